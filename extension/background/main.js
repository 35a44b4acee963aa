// Registers every listener, and nothing else: Chrome wakes a stopped worker only for listeners
// that exist when the first turn of its event loop ends.
import { cancelledOrClosed, forwardEvent, sweep, SWEEP_ALARM } from './debugger.js';
import { downloadChanged, downloadCreated } from './downloads.js';
import { panelConnected } from './router.js';
import { settingsChanged } from './state.js';
import { tabActivated, tabCreated, tabRemoved, tabReplaced, tabUpdated } from './tabs.js';

chrome.runtime.onConnect.addListener(panelConnected);
chrome.debugger.onEvent.addListener(forwardEvent);
chrome.debugger.onDetach.addListener(cancelledOrClosed);
chrome.tabs.onCreated.addListener(tabCreated);
chrome.tabs.onRemoved.addListener(tabRemoved);
chrome.tabs.onUpdated.addListener(tabUpdated);
chrome.tabs.onReplaced.addListener(tabReplaced);
chrome.tabs.onActivated.addListener(tabActivated);
chrome.downloads.onCreated.addListener(downloadCreated);
chrome.downloads.onChanged.addListener(downloadChanged);
chrome.storage.onChanged.addListener(settingsChanged);
chrome.alarms.onAlarm.addListener((alarm) => {
  if (alarm.name === SWEEP_ALARM) void sweep();
});
chrome.runtime.onInstalled.addListener(() => {
  void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
});
