// @ts-check
// The slowest requests of the last minutes and those that failed, each as a waterfall: what waits lies under water.
import {follow} from './api.js';
import {fill, h, say, svg} from './dom.js';
import {ago, clock, duration, number} from './format.js';
import {link} from './names.js';
import {recording} from './recording.js';

/** What the phases are, in people's words. @type {Record<string, string>} */
const WORDS = {
  read: 'reading its head', parse: 'reading and parsing its body', queue: 'waiting for a batch', 'copy-in': 'putting the batch together',
  compute: 'computing', 'copy-out': 'handing out outputs', wake: 'coming back to the connection', encode: 'making the reply',
  write: 'sending it', execute: 'executing',
};

/**
 * @param {any} request
 * @param {number} slowest the longest of all, which takes the whole width
 */
function fall(request, slowest) {
  const width = Math.max(request.duration_us, 1);
  const drawing = svg('svg', {viewBox: `0 0 ${width} 30`, preserveAspectRatio: 'none', role: 'img', 'aria-label': summary(request)},
    ...request.phases.map((/** @type {any} */ phase) => {
      const waits = phase.name === 'queue';
      return svg('rect', {class: phase.name, x: phase.start_us, y: waits ? 16 : 4, width: Math.max(phase.duration_us, width / 500), height: waits ? 12 : 11},
        svg('title', {}, `${WORDS[phase.name] ?? phase.name}: ${duration(phase.duration_us)}`));
    }),
    svg('line', {class: 'water', x1: 0, x2: width, y1: 15.5, y2: 15.5}));
  drawing.style.width = `${Math.max(8, (100 * width) / slowest)}%`;
  return drawing;
}

/** Where the time went, the longest first. @param {any} request */
function summary(request) {
  const longest = [...request.phases].sort((a, b) => b.duration_us - a.duration_us).slice(0, 2);
  return longest.map(phase => `${duration(phase.duration_us)} ${WORDS[phase.name] ?? phase.name}`).join(', ');
}

/**
 * @param {any} request
 * @param {number} slowest
 */
function entry(request, slowest) {
  const batch = request.batch && `in a batch of ${request.batch.size}${request.batch.with.length ? ` with ${request.batch.with.length} of this list` : ''}`;
  const what = [summary(request), batch, request.inline && 'without a queue', request.cache_hit && 'from the cache', request.protocol, request.request_id && `id ${request.request_id}`];
  return h('li', {},
    h('div', {className: 'who'}, link(request.model), h('div', {className: 'soft'}, clock(request.start_ms))),
    h('div', {className: 'bar'}, fall(request, slowest)),
    h('div', {className: 'num'}, duration(request.duration_us)),
    h('div', {className: 'what'}, what.filter(Boolean).join(' · '), request.error && h('span', {className: 'wrong'}, ` · ${request.error}`)),
    h('details', {'data-id': request.id}, h('summary', {}, 'phases'), h('table', {}, h('tbody', {}, ...request.phases.map((/** @type {any} */ phase) =>
      h('tr', {}, h('th', {scope: 'row'}, WORDS[phase.name] ?? phase.name), h('td', {className: 'num'}, `from ${duration(phase.start_us)}`), h('td', {className: 'num'}, duration(phase.duration_us))))))));
}

/** @param {import('./main.js').Context} context */
export function show({root, signal, pulse, about}) {
  const title = h('h1', {}, 'The slowest requests');
  const lead = h('p', {className: 'soft'});
  const filter = h('input', {type: 'search', placeholder: 'model', 'data-shortcut': '', oninput: () => draw()});
  const failed = h('input', {type: 'checkbox', onchange: () => draw()});
  const hold = h('input', {type: 'checkbox', onchange: () => draw()});
  const list = h('ol', {className: 'falls'});
  /** @type {any} */
  let last = null;

  function draw() {
    if (!last) return;
    say(lead, last.seen
      ? `Of ${number(last.seen)} looked at since this page was opened, ${ago(last.since_ms)}. What waits lies below the line.`
      : 'They are looked at while this page is open. None came yet.');
    const open = new Set([...list.querySelectorAll('details[open]')].map(each => /** @type {HTMLElement} */ (each).dataset.id));
    const wanted = filter.value.trim().toLowerCase();
    const shown = last.requests.filter((/** @type {any} */ request) => request.model.toLowerCase().includes(wanted) && (request.error || !failed.checked));
    const slowest = Math.max(1, ...shown.map((/** @type {any} */ request) => request.duration_us));
    fill(list, ...shown.map((/** @type {any} */ request) => entry(request, slowest)));
    for (const each of list.querySelectorAll('details')) each.open = open.has(each.dataset.id);
  }

  fill(root, h('div', {className: 'opening'}, title, lead), about.recording && recording(signal),
    h('section', {'aria-label': 'Requests'}, h('div', {className: 'row'}, h('label', {}, 'Find', filter), h('label', {}, failed, 'failed only'), h('label', {}, hold, 'hold still')), list));
  follow('api/requests/events', signal, (event, value) => {
    if (event !== 'requests' || (hold.checked && last)) return;
    last = value;
    draw();
  }, pulse);
}
