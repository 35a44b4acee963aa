// The least that a native-messaging host in Node can be: every frame goes back as it came.
let held = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  held = Buffer.concat([held, chunk]);
  while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
    const end = 4 + held.readUInt32LE(0);
    process.stdout.write(held.subarray(0, end));
    held = held.subarray(end);
  }
});
