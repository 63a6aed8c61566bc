// @ts-check
// What a model is served with, where each value came from, and what a reload would change.
import {json} from './api.js';
import {copyable} from './copy.js';
import {fill, h} from './dom.js';
import {NONE} from './format.js';
import {modelHead, reasonOf, segment} from './names.js';

/** @type {Record<string, string>} */
const ORIGINS = {file: 'config.pbtxt', model: 'the model’s file', default: 'default', override: 'the load request'};

/** @param {any} configuration */
function values(configuration) {
  const all = h('input', {type: 'checkbox', onchange: () => rows()});
  const body = h('tbody');
  function rows() {
    fill(body, ...configuration.values.filter((/** @type {any} */ value) => all.checked || value.origin !== 'default').map(row));
  }
  rows();
  return h('div', {}, h('p', {}, h('label', {}, all, 'defaults, too')), h('table', {className: 'settings'},
    h('thead', {}, h('tr', {}, ...['Field', 'Value', 'From', 'Line'].map(name => h('th', {scope: 'col'}, name)))),
    body));
}

/** @param {any} value */
function row(value) {
  return h('tr', {className: value.origin}, h('td', {}, value.path), h('td', {}, value.value),
    h('td', {className: 'origin'}, ORIGINS[value.origin] ?? value.origin), h('td', {className: 'soft'}, value.place));
}

/** @param {any} reload */
function difference(reload) {
  if (!reload.known) return [h('p', {}, 'This model does not come from a repository.')];
  const parts = [];
  if (reload.error) {
    parts.push(h('div', {className: 'trouble'}, h('p', {}, 'Loading it again would fail:'), ...reasonOf({reason: reload.error, place: reload.place})));
  }
  if (!reload.changed && !reload.error) parts.push(h('p', {}, 'Nothing: the repository has what is loaded.'));
  const list = [
    ...reload.values.map((/** @type {any} */ value) => h('tr', {}, h('td', {}, value.path),
      h('td', {}, h('del', {}, value.loaded ?? NONE), ' → ', h('ins', {}, value.next ?? NONE)), h('td', {className: 'soft'}, value.place ?? ''))),
    ...reload.versions.added.map((/** @type {string} */ version) => h('tr', {}, h('td', {}, 'version'), h('td', {}, h('ins', {}, version)), h('td', {className: 'soft'}, 'is new'))),
    ...reload.versions.removed.map((/** @type {string} */ version) => h('tr', {}, h('td', {}, 'version'), h('td', {}, h('del', {}, version)), h('td', {className: 'soft'}, 'has gone'))),
    ...reload.files.map((/** @type {string} */ file) => h('tr', {}, h('td', {}, 'file'), h('td', {}, file), h('td', {className: 'soft'}, 'has changed'))),
  ];
  if (list.length) parts.push(h('table', {className: 'settings'}, h('tbody', {}, ...list)));
  return parts;
}

/** @param {import('./main.js').Context} context */
export async function show({root, place, signal}) {
  const path = `api/models/${segment(place.model ?? '', place.version)}`;
  const reload = h('section', {}, h('h2', {}, 'What a reload would change'));
  const config = h('section', {}, h('h2', {}, 'What it is served with'));
  fill(root, modelHead(place), reload, config);
  await Promise.all([
    part(reload, () => json(path + '/reload', {signal}), answer => difference(answer), signal),
    part(config, () => json(path + '/configuration', {signal}), answer => [values(answer),
      h('section', {}, h('h2', {}, 'As config.pbtxt'), copyable(answer.text))], signal),
  ]);
}

/**
 * Fills a section with what the server answers, or with why it does not.
 *
 * @param {HTMLElement} section
 * @param {() => Promise<any>} get
 * @param {(answer: any) => Node[]} make
 * @param {AbortSignal} signal
 */
async function part(section, get, make, signal) {
  try {
    section.append(...make(await get()));
  } catch (e) {
    if (!signal.aborted) section.append(h('p', {className: 'wrong'}, /** @type {Error} */ (e).message));
  }
}
