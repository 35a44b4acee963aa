// Adds the panel to DevTools. Nothing is connected before somebody opens it.
chrome.devtools.panels.create('Browy', 'icons/16.png', 'devtools/panel.html');
