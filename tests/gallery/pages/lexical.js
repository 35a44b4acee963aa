import { createEditor, $getRoot, $createParagraphNode, $createTextNode } from 'lexical';
import { registerPlainText } from '@lexical/plain-text';
import { registerHistory, createEmptyHistoryState } from '@lexical/history';

document.getElementById('root').innerHTML = '<div id="editor" contenteditable="true" role="textbox" aria-label="Comment" aria-multiline="true" style="min-height:80px;border:1px solid"></div><button id="post">Post</button>';
const editor = createEditor({ namespace: 'gallery', onError: (error) => { throw error; } });
editor.setRootElement(document.getElementById('editor'));
registerPlainText(editor);
registerHistory(editor, createEmptyHistoryState(), 300);
editor.update(() => { $getRoot().append($createParagraphNode().append($createTextNode('First thoughts'))); });
window.text = () => editor.getEditorState().read(() => $getRoot().getTextContent());
document.getElementById('post').addEventListener('click', () => { window.posted = window.text(); });
