// The page that DevTools inspects.

/**
 * What an expression is in that page; undefined when it cannot be said.
 * @param {string} expression
 * @returns {Promise<unknown>}
 */
export function inPage(expression) {
  return new Promise((resolve) => chrome.devtools.inspectedWindow.eval(expression, (...[value]) => resolve(value)));
}
