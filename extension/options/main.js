// Puts the options page together. What the host keeps is asked anew whenever the host is there.
import { useAppearance } from '../shared/appearance.js';
import { Connection } from '../shared/connection.js';
import { byId } from '../shared/dom.js';
import { translate, t } from '../shared/i18n.js';
import { mascot } from '../shared/mascot.js';
import { DataSection } from './data-section.js';
import { showLook } from './look-section.js';
import { ModelSection } from './model-section.js';
import { Requests } from '../shared/requests.js';
import { StatusSection } from './status-section.js';
import { ToolsSection } from './tools-section.js';

/** @import { PanelInbound } from '../shared/messages.js' */

await useAppearance();
translate(document);
document.title = `${t('optionsTitle')} · ${t('appName')}`;
byId('face').append(mascot('idle'));

const requests = new Requests(() => connection);
const status = await StatusSection.open(requests, (message) => connection.post(message));
const model = new ModelSection(requests);
const tools = await ToolsSection.open(requests);
const data = new DataSection(requests);
await showLook();
const connection = new Connection('options', receive, (gone) => {
  requests.lost();
  status.workerLost(gone);
});
connection.connect();

/** @param {PanelInbound} message */
function receive(message) {
  if (requests.take(message)) return;
  switch (message.type) {
    case 'worker.host':
      if (message.state !== 'ready') requests.lost();
      status.host(message);
      if (message.state === 'ready') for (const section of [status, model, tools, data]) void section.refresh();
      break;
    case 'auth.status':
    case 'sdk.ready':
      void status.refresh();
      break;
    case 'models.list':
      model.offer(message.models);
      break;
    case 'models.current':
      model.current(message.id);
      break;
  }
}
