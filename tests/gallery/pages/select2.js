import $ from 'jquery';
import select2 from 'select2/dist/js/select2.full.js';
import 'select2/dist/css/select2.css';

window.jQuery = $;
if (typeof select2 === 'function') select2(window, $);
document.getElementById('root').innerHTML = `<form style="max-width:400px;padding:16px">
  <label for="country">Country</label><select id="country" style="width:100%"><option></option><option value="fi">Finland</option><option value="fr">France</option><option value="gr">Greece</option></select>
  <label for="langs">Languages</label><select id="langs" multiple style="width:100%"><option value="en">English</option><option value="de">German</option><option value="el">Greek</option></select>
</form>`;
$('#country').select2({ placeholder: 'Choose a country' });
$('#langs').select2({ tags: true });
