// @ts-check
// All models, and before them what is wrong.
import {follow} from './api.js';
import {fill, h, say} from './dom.js';
import {bytes, duration, NONE, number, percent, plural, rate} from './format.js';
import {address, link, reasonOf, stateWord} from './names.js';
import {Past} from './past.js';
import {extend, Tide} from './tide.js';

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {(model: any) => string | number} sort
 * @property {(model: any) => string} [text]
 * @property {string} [kind]
 */

/** @param {any} model */
const errorsOf = model => Object.values(model.errors ?? {}).reduce((sum, count) => sum + count, 0);

/** @param {any} memory */
const memoryOf = memory => (memory ? memory.weights_bytes + memory.working_bytes + memory.pool_bytes : null);

/** @type {Column[]} */
const COLUMNS = [
  {name: 'Model', kind: 'title', sort: model => model.name},
  {name: 'State', kind: 'status', sort: model => model.state},
  {name: 'Last minutes', kind: 'spark', sort: model => model.requests},
  {name: 'Requests/s', sort: model => model.requests_per_s, text: model => rate(model.requests_per_s)},
  {name: 'p50', sort: model => model.p50_us, text: model => duration(model.p50_us)},
  {name: 'p99', sort: model => model.p99_us, text: model => duration(model.p99_us)},
  {name: 'Waiting', sort: model => model.pending, text: model => number(model.pending)},
  {name: 'Batch', kind: 'wide', sort: model => model.batch_mean, text: model => number(model.batch_mean)},
  {name: 'Busy', kind: 'wide', sort: model => model.busy, text: model => (model.instances ? `${model.busy} of ${model.instances}` : NONE)},
  {name: 'Memory', kind: 'wide', sort: model => memoryOf(model.memory) ?? -1, text: model => bytes(memoryOf(model.memory))},
  {name: 'Errors', sort: errorsOf, text: model => number(model.errors ? errorsOf(model) : null)},
];

/** Draws the lines of those rows only that somebody sees: there may be hundreds. */
const sight = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    const row = rows.get(target);
    if (row) row.look(isIntersecting);
  }
});

/** @type {WeakMap<Element, Row>} */
const rows = new WeakMap();

/** One line of the table. */
class Row {
  /** @param {any} model */
  constructor(model) {
    this.history = model.history;
    this.tide = new Tide(true, model.name);
    this.name = link(model.name);
    this.detail = h('small');
    this.state = h('span', {className: 'state'});
    /** @type {[Column, HTMLElement][]} */
    this.cells = [];
    this.element = h('tr');
    for (const column of COLUMNS) {
      const cell = h('td', {className: column.kind ?? 'num'});
      if (column.kind === 'title') cell.append(this.name, this.detail);
      else if (column.kind === 'status') cell.append(this.state);
      else if (column.kind === 'spark') cell.append(this.tide.element);
      else {
        cell.classList.add('num');
        cell.dataset.label = column.name;
        this.cells.push([column, cell]);
      }
      this.element.append(cell);
    }
    this.seen = false;
    rows.set(this.element, this);
    sight.observe(this.element);
    this.take(model);
  }

  /** @param {boolean} seen whether it is on the screen */
  look(seen) {
    this.seen = seen;
    this.draw();
  }

  draw() {
    if (this.seen) this.tide.show(this.history);
  }

  /** @param {any} model */
  take(model) {
    this.model = model;
    this.state.dataset.state = model.state;
    say(this.state, stateWord(model.state));
    say(this.detail, [model.version && 'version ' + model.version, model.backend].filter(Boolean).join(' · '));
    for (const [column, cell] of this.cells) say(cell, column.text?.(model) ?? '');
  }
}

/** The table and what is around it. */
class Overview {
  constructor() {
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.by = COLUMNS[0];
    this.down = false;
    this.words = '';
    this.said = '';
    /** @type {Record<string, number[]>} */
    this.history = {requests_per_s: [], pending: [], errors_per_s: []};
    this.tide = new Tide(false, 'All models');
    this.past = new Past('api/history', 'All models');
    this.title = h('h1', {}, 'Models');
    this.lead = h('p', {className: 'soft'});
    this.refused = h('p', {className: 'trouble', hidden: true});
    this.fetching = h('p', {className: 'soft', role: 'status', hidden: true});
    this.troubles = h('ul', {className: 'troubles', 'aria-label': 'What is wrong'});
    this.filter = h('input', {type: 'search', placeholder: 'name, backend or state', 'data-shortcut': '', oninput: () => this.arrange()});
    this.count = h('span', {className: 'soft', role: 'status'});
    this.heads = COLUMNS.map(column => this.#head(column));
    this.body = h('tbody');
    this.facts = h('dl', {className: 'facts'});
    this.elements = [
      h('div', {className: 'opening'}, this.title, this.lead, this.fetching, this.refused, this.tide.element, this.troubles),
      h(
        'section',
        {'aria-label': 'Models'},
        h('div', {className: 'row'}, h('label', {}, 'Find', this.filter), this.count),
        h('table', {className: 'models'}, h('thead', {}, h('tr', {}, ...this.heads)), this.body)
      ),
      this.past.element,
      h('section', {}, h('h2', {}, 'The server'), this.facts),
    ];
  }

  /** @param {Column} column */
  #head(column) {
    const head = h('th', {scope: 'col', className: column.kind ?? 'num'});
    if (!['title', 'status', 'spark'].includes(column.kind ?? '')) head.classList.add('num');
    head.append(h('button', {type: 'button', onclick: () => this.sort(column)}, column.name));
    return head;
  }

  /** @param {Column} column */
  sort(column) {
    this.down = this.by === column ? !this.down : Boolean(column.text);
    this.by = column;
    this.arrange();
  }

  /**
   * @param {string} event
   * @param {any} value
   */
  take(event, value) {
    if (event === 'end') return;
    if (event === 'overview') {
      this.rows.clear();
      this.history = summed(value.models);
    }
    for (const key of value.gone) this.rows.delete(key);
    for (const model of value.models) {
      const row = this.rows.get(model.key);
      if (row) row.take(model);
      else this.rows.set(model.key, new Row({...model, history: model.history ?? {requests_per_s: [], pending: [], errors_per_s: []}}));
    }
    this.#links();
    this.#draw(event === 'changes');
    this.#tell(value.server);
    this.arrange();
  }

  /** Links say a version only where a model has several: others go on with the one that serves. */
  #links() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const {model} of this.rows.values()) counts.set(model.name, (counts.get(model.name) ?? 0) + 1);
    for (const {model, name} of this.rows.values()) {
      const wanted = address(model.name, /** @type {number} */ (counts.get(model.name)) > 1 ? model.version : '');
      if (name.getAttribute('href') !== wanted) name.setAttribute('href', wanted);
    }
  }

  /** @param {boolean} later whether this is an interval after those of the history */
  #draw(later) {
    const total = {requests_per_s: 0, pending: 0, errors_per_s: 0};
    for (const row of this.rows.values()) {
      if (later) extend(row.history, row.model);
      row.draw();
      total.requests_per_s += row.model.requests_per_s ?? 0;
      total.pending += row.model.pending ?? 0;
      total.errors_per_s += row.model.errors_per_s ?? 0;
    }
    if (later) extend(this.history, total);
    this.tide.show(/** @type {any} */ (this.history));
    this.total = total;
  }

  /** @param {any} server */
  #tell(server) {
    const models = [...this.rows.values()].map(row => row.model);
    const serving = new Set(models.filter(model => model.state === 'READY').map(model => model.name)).size;
    const perSecond = this.total?.requests_per_s ?? 0;
    const waiting = this.total?.pending ?? 0;
    const failed = models.filter(model => model.state === 'FAILED');
    const recent = server.troubles.filter((/** @type {any} */ each) => each.minute);
    const refused = recent.filter((/** @type {any} */ each) => each.answer).reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.minute, 0);
    say(this.title, failed.length
      ? `${failed.length} of ${plural(models.length, 'version')} failed${perSecond ? `, ${number(perSecond)} requests a second` : ''}`
      : perSecond
      ? `${plural(serving, 'model')} ${serving === 1 ? 'answers' : 'answer'} ${number(perSecond)} requests a second`
      : `${plural(serving, 'model')} ${serving === 1 ? 'is' : 'are'} ready, and ${refused ? 'requests are refused' : 'nobody asks'}`);
    this.refused.hidden = !recent.length;
    say(this.refused, recentLine(recent, refused));
    say(this.lead, [
      `The server is ${server.state === 'not-ready' ? 'not ready' : server.state}`,
      `up ${duration(server.uptime_s * 1e6)}`,
      waiting ? `${plural(waiting, 'request')} waiting` : 'nothing waits',
      server.cpu === null ? '' : `${percent(server.process_cpu)} of the processors, ${percent(server.cpu)} with all other processes`,
    ].filter(Boolean).join(', ') + '.');
    this.fetching.hidden = !server.fetching;
    say(this.fetching, server.fetching && `Models: ${server.fetching}.`);
    const late = server.stores.flatMap((/** @type {any} */ store) => Object.entries(store.waiting))
      .map((/** @type {any} */ [name, reason]) => ({key: name, name, reason, place: null, late: true}));
    this.#troubles([...models.filter(model => model.reason), ...late]);
    this.#facts(server);
  }

  /** @param {any[]} broken */
  #troubles(broken) {
    const words = JSON.stringify(broken.map(model => [model.key, model.reason, model.place]));
    if (words === this.words) return;
    this.words = words;
    this.troubles.hidden = !broken.length;
    fill(this.troubles, ...broken.map(model =>
      h('li', {},
        h('p', {}, link(model.name), model.late ? ' is not as its repository has it' : model.state === 'READY' ? ' goes on as it was: its last reload failed' : ''),
        ...reasonOf(model))));
  }

  /** @param {any} server */
  #facts(server) {
    const {heap, pool, cache, connections} = server;
    const facts = [
      ['Connections', `${connections.http} HTTP, ${connections.grpc} gRPC`],
      ['Java heap', `${bytes(heap.used_bytes)} of ${bytes(heap.max_bytes)}`],
      ['Pool, in use', `${bytes(pool.live_bytes)} in ${plural(pool.buffers, 'buffer')}`],
      ['Pool, reserved', pool.limit_bytes ? `${bytes(pool.reserved_bytes)} of ${bytes(pool.limit_bytes)}` : bytes(pool.reserved_bytes)],
      ['Pages open', String(server.viewers)],
    ];
    if (cache) facts.push(['Response cache', `${bytes(cache.bytes)}, ${percent(cache.hits / (cache.hits + cache.misses))} hits`]);
    for (const device of server.devices) {
      facts.push([device.name || device.device, `${bytes(device.memory_used_bytes)} of ${bytes(device.memory_total_bytes)}, ${percent(device.utilization)} busy`]);
    }
    for (const resource of server.resources) {
      facts.push([`Resource ${resource.name}`, `${resource.free} of ${resource.total} free, ${resource.waiting} waiting`]);
    }
    for (const store of server.stores) {
      facts.push([store.repository, `${store.reachable ? 'can be reached' : 'cannot be reached'}, ${bytes(store.fetched_bytes)} fetched, ${bytes(store.waiting_bytes)} wait`]);
    }
    const words = JSON.stringify(facts);
    if (words === this.said) return;
    this.said = words;
    fill(this.facts, ...facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
  }

  /** Puts the rows in order; those that stay where they are are not touched, nor is the focus in them. */
  arrange() {
    const wanted = this.filter.value.trim().toLowerCase();
    const rows = [...this.rows.values()].filter(({model}) =>
      [model.name, model.backend, model.state, stateWord(model.state)].some(text => String(text ?? '').toLowerCase().includes(wanted)));
    rows.sort((a, b) => (this.down ? -1 : 1) * compare(this.by.sort(a.model), this.by.sort(b.model)) || compare(a.model.key, b.model.key));
    rows.forEach((row, i) => {
      if (this.body.children[i] !== row.element) this.body.insertBefore(row.element, this.body.children[i] ?? null);
    });
    while (this.body.children.length > rows.length) this.body.lastElementChild?.remove();
    say(this.count, wanted ? `${rows.length} of ${this.rows.size}` : '');
    COLUMNS.forEach((column, i) => {
      if (column === this.by) this.heads[i].setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
      else this.heads[i].removeAttribute('aria-sort');
    });
  }
}

/**
 * What went wrong in the last minute, in a line: answers first, then what no request has seen.
 * @param {any[]} recent
 * @param {number} refused
 */
function recentLine(recent, refused) {
  const list = (/** @type {boolean} */ answers) => recent.filter(each => each.answer === answers)
    .sort((a, b) => b.minute - a.minute)
    .map(each => `${number(each.minute)} × ${each.what}`)
    .join(', ');
  return [
    refused ? `${plural(refused, 'request')} ${refused === 1 ? 'was' : 'were'} refused or failed in the last minute: ${list(true)}.` : '',
    list(false) && `${refused ? 'Beside them' : 'In the last minute'}: ${list(false)}.`,
  ].filter(Boolean).join(' ');
}

const order = new Intl.Collator(undefined, {numeric: true});

/**
 * @param {any} a
 * @param {any} b
 */
function compare(a, b) {
  if (typeof a === 'string') return order.compare(a, b);
  return (a ?? -1) - (b ?? -1);
}

/** The histories of all models added up, their ends aligned. @param {any[]} models */
function summed(models) {
  /** @type {Record<string, number[]>} */
  const sums = {requests_per_s: [], pending: [], errors_per_s: []};
  for (const [name, sum] of Object.entries(sums)) {
    const all = models.map(model => model.history?.[name] ?? []);
    const length = Math.max(0, ...all.map(values => values.length));
    for (let i = 1; i <= length; i++) {
      sum.unshift(all.reduce((total, values) => total + (values.at(-i) ?? 0), 0));
    }
  }
  return sums;
}

/** @param {import('./main.js').Context} context */
export function show({root, signal, pulse}) {
  const overview = new Overview();
  fill(root, ...overview.elements);
  overview.past.follow(signal);
  follow('api/overview/events', signal, (event, value) => overview.take(event, value), pulse);
}
