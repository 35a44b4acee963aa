import { EditorView, basicSetup } from 'codemirror';

document.getElementById('root').innerHTML = '<label>Query</label>';
window.view = new EditorView({ doc: 'select 1;\n', extensions: [basicSetup, EditorView.contentAttributes.of({ 'aria-label': 'SQL query' })], parent: document.getElementById('root') });
