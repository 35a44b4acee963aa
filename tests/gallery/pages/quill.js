import Quill from 'quill';
import 'quill/dist/quill.snow.css';

document.getElementById('root').innerHTML = '<label>Message</label><div id="editor"></div>';
window.editor = new Quill('#editor', { theme: 'snow', placeholder: 'Write to the team' });
