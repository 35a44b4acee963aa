import { Editor } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';

document.getElementById('root').innerHTML = '<button id="bold">Bold</button><div id="editor" aria-label="Notes"></div>';
window.editor = new Editor({ element: document.getElementById('editor'), extensions: [StarterKit], content: '<p>Old line</p>',
  editorProps: { attributes: { 'aria-label': 'Notes' } } });
document.getElementById('bold').addEventListener('click', () => window.editor.chain().focus().selectAll().toggleBold().run());
