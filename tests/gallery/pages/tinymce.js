import tinymce from 'tinymce';
import 'tinymce/models/dom';
import 'tinymce/themes/silver';
import 'tinymce/icons/default';
import 'tinymce/plugins/lists';
import 'tinymce/skins/ui/oxide/skin.js';
import 'tinymce/skins/ui/oxide/content.js';
import 'tinymce/skins/content/default/content.js';

document.getElementById('root').innerHTML = '<label for="t">Article</label><textarea id="t">&lt;p&gt;Draft&lt;/p&gt;</textarea>';
tinymce.init({ selector: '#t', license_key: 'gpl', plugins: 'lists', toolbar: 'bold italic bullist', promotion: false, branding: false, skin_url: 'default', content_css: 'default' });
window.text = () => tinymce.get('t').getContent();
