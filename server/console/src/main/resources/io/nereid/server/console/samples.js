// @ts-check
// The request of the form in other languages, ready to paste. Names are quoted for each of them.
import {isFloat, jsonData, toBytes, wantsBytes, count} from './tensor.js';

/**
 * @typedef {object} Request
 * @property {string} model
 * @property {string} version
 * @property {import('./tensor.js').Tensor[]} tensors
 * @property {any[]} slots name and datatype of each output
 * @property {any[]} outputs the same as the protocol asks for them
 * @property {boolean} stream
 * @property {any} parameters
 * @property {string} path
 * @property {string} text the request in JSON
 * @property {boolean} token whether the server wants one
 * @property {number | null} grpc its port, where there is one
 * @property {boolean} secure whether that speaks TLS
 */

/** More elements than this would only hide the rest. */
const MOST = 256;

/** @param {string} text */
const shell = text => `'${text.replaceAll("'", `'\\''`)}'`;

/** A text as Java and Python write it. @param {string} text */
const quoted = text => JSON.stringify(text).replace(/[\u007f-\uffff]/g, each => '\\u' + each.charCodeAt(0).toString(16).padStart(4, '0'));

/**
 * The languages that can ask this server for it.
 *
 * @param {Request} request
 * @returns {Record<string, string>}
 */
export function samples(request) {
  const either = {curl: curl(request), Python: python(request)};
  if (request.grpc === null) return request.stream ? either : {...either, Java: java(request)};
  return {...either, Java: java(request), grpcurl: grpcurl(request)};
}

/** @param {Request} request */
function curl({path, text, tensors, stream, token}) {
  const field = token ? ` \\\n  -H "Authorization: Bearer $TOKEN"` : '';
  if (!stream && tensors.some(wantsBytes)) {
    const length = new TextEncoder().encode(text).length;
    return `# Save the request first, with the button above.\ncurl ${shell(location.origin + path)}${field} \\\n  -H 'Inference-Header-Content-Length: ${length}' \\\n  --data-binary @request.bin`;
  }
  return `curl ${stream ? '-N ' : ''}${shell(location.origin + path)}${field} \\\n  -d ${shell(text)}`;
}

/** A value as Python writes it. @param {any} value @returns {string} */
function literal(value) {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object') return `{${Object.entries(value).map(([name, each]) => `${quoted(name)}: ${literal(each)}`).join(', ')}}`;
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

/** The elements as Python writes them. @param {import('./tensor.js').Tensor} tensor */
function listed(tensor) {
  if (tensor.datatype === 'BYTES') return literal(tensor.tokens);
  return tensor.datatype === 'BOOL' ? literal((tensor.tokens ?? []).map(token => token === 'true')) : jsonData(tensor).replaceAll(',', ', ');
}

/** How Python's module struct calls elements that JSON has no form of; of BF16 it has the bits. */
const STRUCT = '{"FP16": "e", "BF16": "H", "INT64": "q", "UINT64": "Q"}';

/** Reads a reply whose outputs may be bytes behind the JSON. */
const READ_BYTES = ['    reply = response.read()', '    at = int(response.headers.get("Inference-Header-Content-Length", len(reply)))',
  'for output in json.loads(reply[:at])["outputs"]:', '    if "data" not in output:',
  '        size = output["parameters"]["binary_data_size"]', `        kind = ${STRUCT}[output["datatype"]]`,
  '        output["data"] = [each[0] for each in struct.iter_unpack("<" + kind, reply[at : at + size])]', '        at += size',
  '    print(output["name"], output["shape"], output["data"])'];

const READ_JSON = ['    for output in json.load(response)["outputs"]:', '        print(output["name"], output["shape"], output["data"])'];
const READ_EVENTS = ['    for line in response:', '        if line.startswith(b"data:"):', '            print(json.loads(line[5:]))'];

/** What Python needs to send the request: nothing but itself. @param {Request} request */
function python({path, tensors, slots, outputs, stream, token, parameters, text}) {
  const url = quoted(location.origin + path);
  const access = token ? `, "Authorization": "Bearer " + os.environ["TOKEN"]` : '';
  const saved = !stream && tensors.some(wantsBytes);
  // JSON has no form of these; Python reads the large numbers that JavaScript would not.
  const halves = !stream && slots.some(slot => /^(FP16|BF16)$/.test(slot.datatype));
  const modules = ['json', token && 'os', (saved || halves) && 'struct', 'urllib.request'].filter(Boolean);
  const open = 'with urllib.request.urlopen(request) as response:';
  const head = [`import ${modules.join(', ')}`, ''];
  if (saved) {
    const length = new TextEncoder().encode(text).length;
    return [...head, 'with open("request.bin", "rb") as file:  # saved with the button above', '    body = file.read()',
      `request = urllib.request.Request(${url}, body, {"Inference-Header-Content-Length": "${length}"${access}})`, open, ...READ_BYTES].join('\n');
  }
  const inputs = tensors.map(tensor => stream ? `    ${quoted(tensor.name)}: ${listed(tensor)},`
    : `    {"name": ${quoted(tensor.name)}, "datatype": "${tensor.datatype}", "shape": ${literal(tensor.shape)},\n     "data": ${listed(tensor)}},`);
  const more = parameters ? `"parameters": ${literal(parameters)}` : '';
  const members = ['"inputs": inputs', halves && `"outputs": ${literal(outputs)}`, more].filter(Boolean);
  const send = [`request = urllib.request.Request(${url}, json.dumps(${stream ? 'values' : `{${members.join(', ')}}`}).encode(),`,
    `    {"Content-Type": "application/json"${access}})`, open];
  return stream
    ? [...head, 'values = {', ...inputs, ...(more ? [`    ${more},`] : []), '}', ...send, ...READ_EVENTS].join('\n')
    : [...head, 'inputs = [', ...inputs, ']', ...send, ...(halves ? READ_BYTES : READ_JSON)].join('\n');
}

/** A number without zeros before it, which would mean something else. @param {string} token */
const plain = token => token.replace(/^(-?)0+(?=\d)/, '$1');

/** How Java makes an array: type, factory, and what stands behind each number. @type {Record<string, [string, string, string]>} */
const JAVA = {
  INT32: ['int', 'ofInts', ''], INT64: ['long', 'ofLongs', 'L'], FP32: ['float', 'ofFloats', 'f'], FP64: ['double', 'ofDoubles', ''],
  BOOL: ['boolean', 'ofBooleans', ''], BYTES: ['String', 'ofStrings', ''],
};

/** Stands for elements that are too many to show. */
const YOURS = ' /* put your values here */';

/** @param {import('./tensor.js').Tensor} tensor */
function javaTensor(tensor) {
  const {datatype, shape, tokens} = tensor;
  const dims = shape.join(', ');
  const elements = count(shape);
  const few = tokens && tokens.length <= MOST ? tokens : null;
  if (datatype === 'BYTES' && !few) return `Tensor.ofByteStrings(new byte[][] {{}}${YOURS}, ${dims})`;
  if (JAVA[datatype]) {
    const [type, factory, suffix] = JAVA[datatype];
    if (!few) return `Tensor.${factory}(new ${type}[${elements}]${YOURS}, ${dims})`;
    const list = datatype === 'BYTES' ? few.map(quoted) : few.map(each => plain(each) + suffix);
    return `Tensor.${factory}(new ${type}[] {${list.join(', ')}}, ${dims})`;
  }
  if (isFloat(datatype)) {
    const list = few ? `new float[] {${few.map(each => plain(each) + 'f').join(', ')}}` : `new float[${elements}]${YOURS}`;
    return `Tensor.ofHalfFloats(DataType.${datatype}, ${list}, ${dims})`;
  }
  const raw = toBytes(tensor);
  const list = few ? `new byte[] {${[...new Int8Array(raw.buffer, raw.byteOffset, raw.length)].join(', ')}}` : `new byte[${raw.length}]${YOURS}`;
  return `Tensor.of(DataType.${datatype}, ByteBuffer.wrap(${list}), ${dims})`;
}

/** The method that reads a tensor's elements. @type {[RegExp, string][]} */
const READERS = [
  [/^U?INT32$/, 'toIntArray'], [/^U?INT64$/, 'toLongArray'], [/^U?INT16$/, 'toShortArray'], [/^FP64$/, 'toDoubleArray'], [/^(FP|BF)/, 'toFloatArray'],
  [/^BOOL$/, 'toBooleanArray'], [/^BYTES$/, 'toStringArray'],
];

/** A statement that prints an output. @param {any} output */
function javaPrint({name, datatype}) {
  const reader = READERS.find(([form]) => form.test(datatype))?.[1] ?? 'toByteArray';
  return `IO.println(${quoted(name + ' ')} + Arrays.toString(response.output(${quoted(name)}).${reader}()));`;
}

/** @param {Request} request */
function java({model, version, tensors, slots, stream, token, grpc, secure, parameters}) {
  const server = stream ? `${secure ? 'grpcs' : 'grpc'}://${location.hostname}:${grpc}` : location.origin;
  const {sequence_id: sequence, sequence_start: start, sequence_end: end} = parameters ?? {};
  const made = tensors.map(tensor => `.input(${quoted(tensor.name)}, ${javaTensor(tensor)})`);
  const builder = [
    `InferRequest.builder(${quoted(model)})`, version && `.version(${quoted(version)})`, ...made,
    sequence && `.sequence(${sequence}L, ${Boolean(start)}, ${Boolean(end)})`, '.build();',
  ].filter(Boolean).join('\n          ');
  const options = token ? `,\n          ClientOptions.builder().header("authorization", "Bearer " + System.getenv("TOKEN")).build()` : '';
  const open = `  try (var client = InferenceClient.connect(${quoted(server)}${options});`;
  const ask = stream
    ? [open, '      var stream = client.openStream()) {', '    stream.send(request);', '    stream.finish();',
      '    for (var next = stream.next(); next != null; next = stream.next()) {', '      try (var response = next) {',
      ...slots.map(slot => '        ' + javaPrint(slot)), '      }', '    }', '  }']
    : [open, '      var response = client.infer(request)) {', ...slots.map(slot => '    ' + javaPrint(slot)), '  }'];
  const types = made.some(each => each.includes('DataType.')) ? ['import io.nereid.types.DataType;'] : [];
  return ['import io.nereid.client.*;', ...types, '', 'void main() {', '  var request =', `      ${builder}`, ...ask, '}'].join('\n');
}

/** Which member of the message has the elements. @type {[RegExp, string][]} */
const CONTENTS = [
  [/^BOOL$/, 'bool_contents'], [/^INT(8|16|32)$/, 'int_contents'], [/^INT64$/, 'int64_contents'], [/^UINT(8|16|32)$/, 'uint_contents'],
  [/^UINT64$/, 'uint64_contents'], [/^FP32$/, 'fp32_contents'], [/^FP64$/, 'fp64_contents'], [/^BYTES$/, 'bytes_contents'],
];

/** @param {Uint8Array} raw */
const base64 = raw => btoa(Array.from(raw, byte => String.fromCharCode(byte)).join(''));

/** @param {Request} request */
function grpcurl({model, version, tensors, stream, token, grpc, secure, parameters}) {
  const raw = tensors.some(tensor => wantsBytes(tensor));
  const inputs = tensors.map(tensor => {
    const head = JSON.stringify({name: tensor.name, datatype: tensor.datatype, shape: tensor.shape});
    if (raw) return head;
    const member = CONTENTS.find(([form]) => form.test(tensor.datatype))?.[1];
    const list = tensor.datatype === 'BYTES'
      ? JSON.stringify((tensor.tokens ?? []).map(text => base64(new TextEncoder().encode(text)))) : jsonData(tensor);
    return `${head.slice(0, -1)},"contents":{"${member}":${list}}}`;
  });
  const big = raw && tensors.some(tensor => toBytes(tensor).length > 4096);
  const parts = [`"model_name":${JSON.stringify(model)}`, version && `"model_version":${JSON.stringify(version)}`, `"inputs":[${inputs.join(',')}]`,
    parameters?.sequence_id && `"parameters":{"sequence_id":{"int64_param":${parameters.sequence_id}},"sequence_start":{"bool_param":${Boolean(parameters.sequence_start)}},"sequence_end":{"bool_param":${Boolean(parameters.sequence_end)}}}`,
    raw && `"raw_input_contents":[${tensors.map(tensor => (big ? '"BASE64 of your values"' : JSON.stringify(base64(toBytes(tensor))))).join(',')}]`];
  const field = token ? ` -H "authorization: Bearer $TOKEN"` : '';
  const plainText = secure ? '' : '-plaintext ';
  return `grpcurl ${plainText}${field ? field.trim() + ' ' : ''}-d ${shell(`{${parts.filter(Boolean).join(',')}}`)} \\\n  ${location.hostname}:${grpc} inference.GRPCInferenceService/${stream ? 'ModelStreamInfer' : 'ModelInfer'}`;
}
