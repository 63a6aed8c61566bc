// @ts-check
// The page of a model that the server does not have: which ones may be meant, or how it is loaded.
import {post} from './api.js';
import {fill, h} from './dom.js';
import {address, link} from './names.js';

const MOST_NAMES = 8;

/**
 * The names that are most like another one; all of a few where none is.
 *
 * @param {string} name
 * @param {string[]} names
 */
export function near(name, names) {
  const pairs = (/** @type {string} */ text) => new Set([...text.toLowerCase()].map((_, i, letters) => letters.slice(i, i + 2).join('')));
  const own = pairs(name);
  const like = (/** @type {string} */ other) => {
    const its = pairs(other);
    return (2 * [...own].filter(pair => its.has(pair)).length) / (own.size + its.size);
  };
  const known = names.map(other => ({other, like: like(other)})).sort((a, b) => b.like - a.like);
  const alike = known.filter(each => each.like > 0.3);
  return (alike.length ? alike : known).slice(0, MOST_NAMES).map(each => each.other);
}

/**
 * @param {import('./main.js').Context} context
 * @param {Error} failure the server's answer
 */
export async function show({root, place, about, signal}, failure) {
  const name = place.model ?? '';
  /** @type {any[]} */
  let index = [];
  try {
    index = await (await post('/v2/repository/index', {}, signal)).json();
  } catch {
    // Who may not see the repository gets no names.
  }
  if (signal.aborted) return;
  const names = [...new Set(index.map(entry => entry.name))];
  const title = (/** @type {string} */ text) => h('h1', {}, text, h('bdi', {}, name));
  if (names.includes(name)) {
    const known = place.version
      ? h('p', {}, 'The model is there: ', link(name), '.')
      : h('p', {}, 'It is in the repository, and not loaded.');
    const load = !place.version && about.control_mode === 'explicit' && h('p', {}, loadButton(name));
    fill(root, h('div', {className: 'opening'}, title(place.version ? `There is no version ${place.version} of ` : ''), known, load));
    return;
  }
  fill(root, h('div', {className: 'opening'}, title('There is no model '),
    names.length ? h('p', {}, 'Perhaps you mean one of these:') : h('p', {className: 'soft'}, failure.message),
    h('ul', {}, ...near(name, names).map(other => h('li', {}, link(other)))),
    h('p', {}, h('a', {href: '#/'}, 'All models'))));
}

/** @param {string} name */
function loadButton(name) {
  const problem = h('span', {className: 'wrong', role: 'alert'});
  const button = h('button', {type: 'button', 'data-act': 'load', onclick: async () => {
    button.disabled = true;
    try {
      await post(`/v2/repository/models/${encodeURIComponent(name)}/load`, {});
      if (location.hash.startsWith(address(name))) dispatchEvent(new Event('hashchange'));
    } catch (e) {
      fill(problem, ' ' + /** @type {Error} */ (e).message);
    }
    button.disabled = false;
  }}, 'Load');
  return h('span', {}, button, problem);
}
