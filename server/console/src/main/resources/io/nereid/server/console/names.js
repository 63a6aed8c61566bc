// @ts-check
// How models, their states and lines of configurations are called on every page.
import {h} from './dom.js';

/** @type {Record<string, string>} */
const WORDS = {
  READY: 'ready', LOADING: 'loading', DRAINING: 'finishing', UNLOADED: 'unloaded', UNKNOWN: 'not loaded',
  INCOMPLETE: 'incomplete', FAILED: 'failed',
};

/** @param {string} state */
export const stateWord = state => WORDS[state] ?? state.toLowerCase();

/**
 * The address of a model's page.
 *
 * @param {string} name
 * @param {string} [version] the one that answers requests unless it is said
 * @param {string} [page]
 */
export function address(name, version, page) {
  const parts = ['#/models', encodeURIComponent(name)];
  if (version) parts.push('versions', encodeURIComponent(version));
  if (page) parts.push(page);
  return parts.join('/');
}

/**
 * A model and version as a part of an address of the console.
 *
 * @param {string} name
 * @param {string} [version]
 */
export function segment(name, version) {
  return encodeURIComponent(name) + (version ? '/versions/' + encodeURIComponent(version) : '');
}

/**
 * A link to a model; a name may be written in any direction and stays apart from what is around it.
 *
 * @param {string} name
 */
export function link(name) {
  return h('a', {href: address(name), className: 'mono'}, h('bdi', {}, name));
}

/** @param {{file: string, line: number, column: number}} place */
export const placeText = place => `${place.file}:${place.line}:${place.column}`;

/**
 * Why something is wrong, and the line that is to blame, once.
 *
 * @param {{reason: string, place: {file: string, line: number, column: number} | null}} what
 */
export function reasonOf({reason, place}) {
  const text = place ? placeText(place) : '';
  return [
    h('p', {className: 'reason'}, text && reason.startsWith(text + ': ') ? reason.slice(text.length + 2) : reason),
    text && h('p', {className: 'mono'}, text),
  ];
}

/**
 * The head of the pages of one model.
 *
 * @param {import('./main.js').Place} place
 * @param {HTMLElement} [more]
 */
export function modelHead({model = '', version, page}, more) {
  const tabs = [['model', 'Live'], ['try', 'Try it'], ['configuration', 'Configuration']];
  return h(
    'div',
    {className: 'opening'},
    h('h1', {}, h('bdi', {}, model), version ? h('span', {className: 'soft'}, ` version ${version}`) : ''),
    more,
    h('nav', {className: 'tabs', 'aria-label': 'Model'}, ...tabs.map(([name, title]) =>
      h('a', {href: address(model, version, name === 'model' ? '' : name), 'aria-current': name === page ? 'page' : undefined}, title)))
  );
}
