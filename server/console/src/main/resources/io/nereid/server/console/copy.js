// @ts-check
// Text to take along.
import {h, say} from './dom.js';

/** @param {string} text */
export function copyable(text) {
  const code = h('pre', {tabIndex: 0}, text);
  const button = h('button', {type: 'button', className: 'copy', onclick: copy}, 'Copy');
  async function copy() {
    try {
      await navigator.clipboard.writeText(code.textContent ?? '');
      say(button, 'Copied');
    } catch {
      // Pages of plain http have no clipboard: the reader copies what is marked.
      getSelection()?.selectAllChildren(code);
      say(button, 'Marked');
    }
    setTimeout(() => say(button, 'Copy'), 1500);
  }
  return h('div', {className: 'code'}, code, button);
}
