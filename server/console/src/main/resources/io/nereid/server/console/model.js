// @ts-check
// One model as it works: plots, instances, figures; and loading and unloading it.
import {follow, post} from './api.js';
import {fill, h, say} from './dom.js';
import {bytes, duration, NONE, number, percent, plural, rate} from './format.js';
import {Heat} from './heat.js';
import {address, modelHead, reasonOf, segment, stateWord} from './names.js';
import {Objective} from './objective.js';
import {Past} from './past.js';
import {Plot} from './plots.js';
import {extend, SPAN, Tide} from './tide.js';

/** What is plotted: title, lines with where an event has their values, and how values are written. @type {any[]} */
const PLOTS = [
  ['Latency', duration, [
    ['p99', 'sea', (/** @type {any} */ e) => e.latency?.total.p99_us, {dash: true}],
    ['p90', 'soft', (/** @type {any} */ e) => e.latency?.total.p90_us],
    ['p50', 'ink', (/** @type {any} */ e) => e.latency?.total.p50_us],
  ]],
  ['Throughput, a second', rate, [
    ['inferences', 'soft', (/** @type {any} */ e) => e.inferences_per_s],
    ['executions', 'sea', (/** @type {any} */ e) => e.executions_per_s, {dash: true}],
    ['requests', 'ink', (/** @type {any} */ e) => e.requests_per_s],
  ]],
  ['Waiting and working, a request', duration, [
    ['queue and compute', 'soft', (/** @type {any} */ e) => whole(e.time_us)],
    ['queue', 'deep', (/** @type {any} */ e) => e.time_us?.queue, {filled: true}],
  ]],
];

const CACHE = ['Response cache, a second', rate, [
  ['misses', 'soft', (/** @type {any} */ e) => e.cache?.misses_per_s],
  ['hits', 'sea', (/** @type {any} */ e) => e.cache?.hits_per_s],
]];

const OBJECTIVE = ['Objective, requests a second', rate, [
  ['refused', 'soft', (/** @type {any} */ e) => e.objective?.refused_per_s],
  ['late', 'deep', (/** @type {any} */ e) => e.objective?.late_per_s, {dash: true}],
  ['in time', 'sea', (/** @type {any} */ e) => e.objective?.kept_per_s],
]];

/** @param {any} time */
const whole = time => (time ? time.queue + time.compute_input + time.compute_infer + time.compute_output : null);

/** The reasons for which batches are not larger. @type {Record<string, string>} */
const ENDS = {
  single: 'the model has no dynamic batching',
  full: 'they were full',
  unlike: 'the next request has other shapes',
  delay: 'the oldest request had waited for long enough',
  idle: 'an instance was free and nothing else waited',
  objective: 'more would have missed the objective',
  drain: 'the model is unloaded',
};

/** @param {Record<string, number>} ends */
function endsOf(ends) {
  const sum = Object.values(ends).reduce((total, count) => total + count, 0);
  const parts = Object.entries(ends).filter(([, count]) => count).sort(([, a], [, b]) => b - a)
    .map(([end, count]) => `${percent(count / sum)} because ${ENDS[end] ?? end}`);
  return parts.length ? `Batches ended ${parts.join(', ')}.` : '';
}

/** A plot with the values of the last minutes. */
class Series {
  /** @param {any[]} what */
  constructor([title, words, lines]) {
    this.lines = lines;
    this.plot = new Plot(title, lines.map((/** @type {any[]} */ [name, ink, , more]) => ({name, ink, ...more})), words);
    /** @type {any[][]} */
    this.data = [[], ...lines.map(() => [])];
  }

  /** @param {any} event */
  add(event) {
    this.data[0].push(event.time_ms / 1000);
    this.lines.forEach((/** @type {any} */ line, /** @type {number} */ i) => this.data[i + 1].push(line[2](event) ?? null));
    if (this.data[0].length > SPAN) this.data.forEach(values => values.shift());
    this.plot.show(this.data);
  }
}

class Live {
  /** @param {import('./main.js').Context} context */
  constructor({place, about, signal, model}) {
    this.name = place.model ?? '';
    this.about = about;
    this.tide = new Tide(false, this.name);
    this.past = new Past(`api/models/${segment(this.name, place.version)}/history`, this.name);
    this.past.follow(signal);
    this.series = PLOTS.map(plot => new Series(plot));
    this.heat = new Heat();
    this.plots = h('div', {className: 'plots'}, this.series[0].plot.element, this.heat.element, ...this.series.slice(1).map(series => series.plot.element));
    this.lead = h('p', {className: 'soft'});
    this.state = h('span', {className: 'state', role: 'status'});
    this.actions = h('span', {className: 'row'});
    this.trouble = h('div', {className: 'trouble', hidden: true});
    this.versions = h('p');
    this.said = '';
    this.batches = h('dl', {className: 'bars'});
    this.ends = h('p', {className: 'soft'});
    this.cells = h('ul', {className: 'cells'});
    this.objective = new Objective();
    this.facts = h('dl', {className: 'facts'});
    this.table = h('tbody');
    this.element = modelHead(place, h('div', {}, this.lead,
      h('div', {className: 'row'}, this.state, this.actions), this.versions,
      ...(model?.notes ?? []).map((/** @type {string} */ note) => h('p', {className: 'soft'}, note)), this.trouble));
    signal.addEventListener('abort', () => [this.heat, ...this.series.map(series => series.plot)].forEach(plot => plot.close()));
  }

  sections() {
    this.figures = h('div', {hidden: true},
      this.tide.element,
      this.past.element,
      this.plots,
      this.objective.element,
      h('section', {}, h('h2', {}, 'Batches'), this.batches, this.ends),
      h('section', {}, h('h2', {}, 'Instances'), this.cells),
      h('section', {}, h('h2', {}, 'The last minute'),
        h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'The last minute'}, h('table', {},
          h('thead', {}, h('tr', {}, ...['Time', 'p50', 'p90', 'p95', 'p99', 'largest', 'mean'].map((name, i) => h('th', {scope: 'col', className: i ? 'num' : ''}, name)))),
          this.table))),
      h('section', {}, h('h2', {}, 'Since it was loaded'), this.facts));
    return [this.element, this.figures];
  }

  /**
   * @param {string} event
   * @param {any} value
   */
  take(event, value) {
    if (event !== 'model') return;
    if (value.history) this.history = value.history;
    else if (this.history) extend(this.history, value);
    if (this.history) this.tide.show(this.history);
    this.#head(value);
    const figures = value.requests_per_s !== null;
    if (this.figures) this.figures.hidden = !figures;
    if (!figures) return;
    if (value.cache) this.#plot(CACHE);
    if (value.objective) this.#plot(OBJECTIVE);
    this.series.forEach(series => series.add(value));
    if (value.heat) this.heat.add(value.heat);
    this.#batches(value.batches ?? []);
    say(this.ends, endsOf(value.batch_ends ?? {}));
    this.#instances(value.instances ?? []);
    this.#minute(value.minute);
    this.objective.show(value.objective);
    this.#facts(value);
  }

  /**
   * Adds a plot that not every model has, unless it is there.
   *
   * @param {any[]} what
   */
  #plot(what) {
    if (this.series.some(series => series.lines === what[2])) return;
    const added = new Series(what);
    this.series.push(added);
    this.plots.append(added.plot.element);
  }

  /** @param {any} value */
  #head(value) {
    this.state.dataset.state = value.state;
    say(this.state, stateWord(value.state));
    const now = value.requests_per_s === null ? '' : value.requests_per_s
      ? `, answers ${number(value.requests_per_s)} requests a second` : ', and nobody asks';
    say(this.lead, `${value.backend ? 'Runs on ' + value.backend : 'A model of the repository'}${value.version ? ', version ' + value.version : ''}${now}.`);
    this.trouble.hidden = !value.reason;
    if (value.reason) {
      fill(this.trouble, value.state === 'READY' && h('p', {}, 'It goes on as it was: its last reload failed.'), ...reasonOf(value), h('p', {className: 'advice'}, this.#advice(value)));
    }
    const versions = JSON.stringify(value.versions ?? []);
    if (versions !== this.said) {
      this.said = versions;
      const others = value.versions ?? [];
      fill(this.versions, ...(others.length < 2 ? [] : ['Versions: ', ...others.flatMap((/** @type {any} */ version, /** @type {number} */ i) => [
        i ? ', ' : '', h('a', {href: address(this.name, version.version)}, version.version), ` ${stateWord(version.state)}`,
        version.reason ? h('span', {className: 'wrong'}, ` (${version.reason})`) : ''])]));
    }
    this.#actions(value);
  }

  /** What to do where a load failed. @param {any} value */
  #advice(value) {
    if (value.state === 'INCOMPLETE') return 'It is ready as soon as the models that it needs are.';
    const then = {
      explicit: `then press ‘${value.state === 'READY' ? 'Load again' : 'Load'}’`,
      poll: 'and the server loads it when it looks at its repository the next time',
    }[/** @type {string} */ (this.about.control_mode)] ?? 'and start the server again';
    return `Mend what it names, ${then}. ‘nereid check DIR --load’ says beforehand whether it will load.`;
  }

  /** @param {any} value */
  #actions(value) {
    if (this.about.control_mode !== 'explicit' || this.offered === value.state) return;
    this.offered = value.state;
    const loaded = value.state === 'READY';
    const acts = loaded ? [['load', 'Load again'], ['unload', 'Unload']] : [['load', 'Load']];
    fill(this.actions, ...acts.map(([act, title]) =>
      h('button', {type: 'button', className: act === 'unload' ? 'danger' : '', 'data-act': act, onclick: () => this.#act(act)}, title)));
  }

  /** @param {string} act */
  async #act(act) {
    const buttons = [...this.actions.querySelectorAll('button')];
    buttons.forEach(button => (button.disabled = true));
    try {
      await post(`/v2/repository/models/${encodeURIComponent(this.name)}/${act}`, {});
    } catch (e) {
      this.trouble.hidden = false;
      fill(this.trouble, h('p', {className: 'reason', role: 'alert'}, /** @type {Error} */ (e).message));
    } finally {
      buttons.forEach(button => (button.disabled = false));
    }
  }

  /** @param {any[]} batches */
  #batches(batches) {
    const most = Math.max(1, ...batches.map(batch => batch.total));
    const sum = batches.reduce((total, batch) => total + batch.total, 0);
    const rows = batches.map(batch => {
      const bar = h('span');
      bar.style.width = `${(100 * batch.total) / most}%`;
      return [
        h('dt', {className: 'num'}, String(batch.size)),
        h('dd', {className: batch.executions ? 'bar best' : 'bar'}, bar),
        h('dd', {className: 'soft'}, `${percent(batch.total / sum)}, ${duration(batch.compute_us)} each`),
      ];
    });
    if (rows.length) fill(this.batches, ...rows.flat());
    else fill(this.batches, h('dt', {}, '–'), h('dd', {className: 'soft'}, 'none yet'));
  }

  /** @param {any[]} instances */
  #instances(instances) {
    fill(this.cells, ...instances.map(instance => {
      const busy = instance.state === 'executes';
      return h('li', {'data-busy': String(busy), title: instance.state}, String(instance.index));
    }));
  }

  /** @param {any} minute */
  #minute(minute) {
    if (!minute) return;
    fill(this.table, ...[['total', 'In all'], ['queue', 'Waiting'], ['compute', 'Working']].map(([name, title]) => {
      const spread = minute[name] ?? {};
      return h('tr', {}, h('th', {scope: 'row'}, title),
        ...['p50_us', 'p90_us', 'p95_us', 'p99_us', 'max_us', 'mean_us'].map(figure => h('td', {className: 'num'}, duration(spread[figure]))));
    }));
  }

  /** @param {any} value */
  #facts(value) {
    const {errors, memory, sequences, cache, isolation, shadow} = value;
    const facts = [
      ['Requests', number(value.requests)],
      ['Inferences', number(value.inferences)],
      ['Executions', `${number(value.executions)}, ${number(value.inline)} without a queue`],
      ['Errors', Object.entries(errors ?? {}).filter(([, count]) => count).map(([kind, count]) => `${number(/** @type {number} */ (count))} ${kind}`).join(', ') || 'none'],
      ['Memory', memory ? `${bytes(memory.weights_bytes)} weights, ${bytes(memory.working_bytes)} working` : NONE],
      ['In the pool', bytes(memory?.pool_bytes)],
    ];
    if (cache) facts.push(['Cache hits', `${number(cache.hits)}, ${percent(cache.hits / (cache.hits + cache.misses))}`]);
    if (sequences) {
      facts.push(['Sequences', `${sequences.active} of ${plural(sequences.slots, 'slot')}, ${sequences.backlog} waiting`]);
      facts.push(['Sequences ended', `${sequences.ended} of ${sequences.started}, ${sequences.idle_ended} idle`]);
      facts.push(['State', bytes(sequences.state_bytes)]);
    }
    if (isolation) {
      facts.push(['Process', isolation.up ? `${isolation.process}, ${bytes(isolation.resident_bytes)} resident` : isolation.failed ? 'given up' : 'starts']);
      facts.push(['Processes lost', isolation.restarts ? `${number(isolation.restarts)}; the last one ${isolation.last_end}` : 'none']);
    }
    if (shadow) {
      facts.push(['Shadow of', `version ${shadow.of}; ${number(shadow.dropped)} requests dropped`]);
      facts.push(['Answers compared', `${number(shadow.compared)}; ${number(shadow.differing)} differ, ${number(shadow.failed)} failed${shadow.failure ? `, the last with ${shadow.failure}` : ''}`]);
      for (const one of shadow.outputs) {
        facts.push([one.output, `${number(one.differing)} differ; at most ${one.absolute.toPrecision(2)} away, ${one.relative.toPrecision(2)} relative, cosine ${one.cosine.toFixed(6)}, top-1 ${number(one.top_changes)}`]);
      }
    }
    fill(this.facts, ...facts.map(([name, text]) => h('div', {}, h('dt', {}, name), h('dd', {}, text))));
  }
}

/** @param {import('./main.js').Context} context */
export function show(context) {
  const live = new Live(context);
  fill(context.root, ...live.sections());
  const {model = '', version} = context.place;
  follow(`api/models/${segment(model, version)}/events`, context.signal, (event, value) => live.take(event, value), context.pulse);
}
