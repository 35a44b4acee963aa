import '@shoelace-style/shoelace/dist/themes/light.css';
import '@shoelace-style/shoelace/dist/components/input/input.js';
import '@shoelace-style/shoelace/dist/components/select/select.js';
import '@shoelace-style/shoelace/dist/components/option/option.js';
import '@shoelace-style/shoelace/dist/components/checkbox/checkbox.js';
import '@shoelace-style/shoelace/dist/components/switch/switch.js';
import '@shoelace-style/shoelace/dist/components/radio-group/radio-group.js';
import '@shoelace-style/shoelace/dist/components/radio/radio.js';
import '@shoelace-style/shoelace/dist/components/textarea/textarea.js';
import '@shoelace-style/shoelace/dist/components/rating/rating.js';
import '@shoelace-style/shoelace/dist/components/button/button.js';
import { registerIconLibrary } from '@shoelace-style/shoelace/dist/utilities/icon-library.js';

// No icons from elsewhere.
registerIconLibrary('default', { resolver: () => 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>' });
registerIconLibrary('system', { resolver: () => 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>' });

document.getElementById('root').innerHTML = `<form style="display:grid;gap:16px;max-width:420px;padding:16px">
  <sl-input name="name" label="Name" required></sl-input>
  <sl-select name="team" label="Team"><sl-option value="red">Red team</sl-option><sl-option value="blue">Blue team</sl-option></sl-select>
  <sl-textarea name="why" label="Reason"></sl-textarea>
  <sl-radio-group name="when" label="When"><sl-radio value="now">Now</sl-radio><sl-radio value="later">Later</sl-radio></sl-radio-group>
  <sl-checkbox name="ok" value="yes">I agree</sl-checkbox>
  <sl-switch name="loud" value="on">Notify all</sl-switch>
  <sl-button type="submit" variant="primary">Join</sl-button>
</form>`;
document.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  window.sent = Object.fromEntries(new FormData(event.target));
});
