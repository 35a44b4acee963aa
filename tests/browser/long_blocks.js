// Run in the panel: blocks that are too long to be one, written piece by piece, and what became of them.
(async () => {
  const { MarkdownStream } = await import('/shared/markdown-stream.js');
  const { renderMarkdown } = await import('/shared/markdown.js');
  const lines = (count, line) => Array.from({ length: count }, (_, at) => line(at)).join('');
  const shown = async (text) => {
    const box = document.createElement('div');
    const stream = new MarkdownStream(box);
    for (let at = 0; at < text.length; at += 700) {
      stream.append(text.slice(at, at + 700));
      if (at % 2100 === 0) stream.rendering.step();
    }
    stream.finish();
    while (stream.rendering.due) await new Promise((resolve) => setTimeout(resolve, 1));
    return box;
  };
  const told = {};
  const code = lines(3000, (at) => `let line${at} = '*not* marked';\n`);
  const isCode = (box) => [box.querySelectorAll('.code-block').length, box.querySelector('pre').textContent === code];
  const closed = await shown('Before\n\n```js\n' + code + '```\nAfter **it**');
  told.code = [...isCode(closed), closed.lastElementChild.querySelector('strong')?.textContent];
  told.openCode = isCode(await shown('~~~\n' + code));
  const list = await shown(lines(2000, (at) => `${at + 1}. item with some words\n`));
  told.items = list.querySelectorAll('li').length;
  told.numbered = [...list.children].every((part) => part.querySelector('li') && (part === list.firstElementChild || part.start > 1));
  const table = await shown('| name | size |\n|---|---|\n' + lines(1500, (at) => `| file ${at} | ${at} |\n`));
  told.rows = table.querySelectorAll('tbody tr').length;
  told.head = table.lastElementChild.querySelector('th').textContent;
  told.word = (await shown('x'.repeat(50_000))).textContent.trim().split('\n').join('').length;
  const short = '# A\n\n- one\n- two\n\n[b][1] *c*\n\n[1]: https://b.example/\n';
  const whole = document.createElement('div');
  whole.append(renderMarkdown(short));
  told.short = (await shown(short)).innerHTML === whole.innerHTML && whole.querySelector('a') !== null;
  return told;
})();
