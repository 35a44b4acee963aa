// Every language has the same messages with the same placeholders; every message that the code names
// exists; none is left over.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const extension = join(dirname(fileURLToPath(import.meta.url)), '../../extension');
/** @type {string[]} */
const faults = [];

const languages = Object.fromEntries(
  readdirSync(join(extension, '_locales')).map((name) => [
    name,
    JSON.parse(readFileSync(join(extension, '_locales', name, 'messages.json'), 'utf8')),
  ]),
);
const english = languages.en;
const keys = Object.keys(english);

/** @param {string} text */
const placeholders = (text) => [...new Set(text.match(/\$\d/g))].sort().join(' ');

for (const [name, messages] of Object.entries(languages)) {
  for (const key of keys) {
    const message = messages[key]?.message;
    if (!message) faults.push(`${name}: no message ${key}`);
    else if (placeholders(message) !== placeholders(english[key].message)) faults.push(`${name}: ${key} has other placeholders`);
  }
  for (const key of Object.keys(messages)) {
    if (!english[key]) faults.push(`${name}: ${key} is not in en`);
  }
}

const sources = readdirSync(extension, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(js|html|json)$/.test(file) && !/^(vendor|_locales)/.test(file))
  .map((file) => ({ file, text: readFileSync(join(extension, file), 'utf8') }));

const named = /\bt\(\s*'(\w+)'|data-i18n(?:-\w+)?="(\w+)"|__MSG_(\w+)__/g;
const used = new Set();
for (const { file, text } of sources) {
  for (const match of text.matchAll(named)) {
    const key = match[1] ?? match[2] ?? match[3] ?? '';
    if (!english[key]) faults.push(`${file}: no message ${key}`);
    used.add(key);
  }
  // Tables of keys: any literal that is one counts.
  for (const [, literal = ''] of text.matchAll(/'(\w+)'/g)) {
    if (english[literal]) used.add(literal);
    if (/^tool[A-Z]/.test(literal)) {
      for (const key of [literal, `${literal}Now`]) {
        if (!english[key]) faults.push(`${file}: no message ${key}`);
        used.add(key);
      }
    }
  }
}
for (const key of keys) if (!used.has(key)) faults.push(`en: ${key} is used nowhere`);

for (const fault of faults) console.error(fault);
console.log(`locales: ${keys.length} messages in ${Object.keys(languages).length} languages, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
