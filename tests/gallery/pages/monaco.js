import * as monaco from 'monaco-editor/editor/editor.api.js';

window.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob(['']))) };
const box = document.getElementById('root');
box.style.height = '300px';
window.editor = monaco.editor.create(box, { value: 'print("old")\n', language: 'plaintext', ariaLabel: 'Program', minimap: { enabled: false } });
