// @ts-check
// The request of the form in other languages, ready to paste. Names are quoted for each of them.
import {isFloat, jsonData, toBytes, wantsBytes, count} from './tensor.js';

/**
 * @typedef {object} Request
 * @property {string} model
 * @property {string} version
 * @property {import('./tensor.js').Tensor[]} tensors
 * @property {any[]} outputs as the protocol has them
 * @property {boolean} stream
 * @property {any} parameters
 * @property {string} path
 * @property {string} text the request in JSON
 * @property {boolean} token whether the server wants one
 * @property {number | null} grpc its port
 */

/** More elements than this would only hide the rest. */
const MOST = 256;

/** @param {string} text */
const shell = text => `'${text.replaceAll("'", `'\\''`)}'`;

/** A text as Java and Python write it. @param {string} text */
const quoted = text => JSON.stringify(text).replace(/[\u007f-\uffff]/g, each => '\\u' + each.charCodeAt(0).toString(16).padStart(4, '0'));

/** @param {Request} request */
export const samples = request => ({curl: curl(request), Python: python(request), Java: java(request), grpcurl: grpcurl(request)});

/** @param {Request} request */
function curl({path, text, tensors, stream, token}) {
  const field = token ? ` \\\n  -H "Authorization: Bearer $TOKEN"` : '';
  if (tensors.some(wantsBytes)) {
    const length = new TextEncoder().encode(text).length;
    return `# Save the request first, with the button above.\ncurl ${shell(location.origin + path)}${field} \\\n  -H 'Inference-Header-Content-Length: ${length}' \\\n  --data-binary @request.bin`;
  }
  return `curl ${stream ? '-N ' : ''}${shell(location.origin + path)}${field} \\\n  -d ${shell(text)}`;
}

/** @type {Record<string, string>} */
const NUMPY = {
  BOOL: 'np.bool_', UINT8: 'np.uint8', UINT16: 'np.uint16', UINT32: 'np.uint32', UINT64: 'np.uint64', INT8: 'np.int8', INT16: 'np.int16',
  INT32: 'np.int32', INT64: 'np.int64', FP16: 'np.float16', BF16: 'np.float32', FP32: 'np.float32', FP64: 'np.float64', BYTES: 'np.object_',
};

/** @param {import('./tensor.js').Tensor} tensor */
function numpy({datatype, shape, tokens}) {
  if (!tokens || tokens.length > MOST) return `np.zeros((${shape.join(', ')},), dtype=${NUMPY[datatype]})  # put your values here`;
  const list = datatype === 'BYTES' ? tokens.map(quoted) : datatype === 'BOOL' ? tokens.map(each => (each === 'true' ? 'True' : 'False')) : tokens.map(plain);
  return `np.array([${list.join(', ')}], dtype=${NUMPY[datatype]}).reshape(${shape.join(', ')})`;
}

/** A number without zeros before it, which would mean something else. @param {string} token */
const plain = token => token.replace(/^(-?)0+(?=\d)/, '$1');

/** @param {Request} request */
function python({model, version, tensors, outputs, stream, token, grpc, parameters}) {
  const kind = stream ? 'grpc' : 'http';
  const server = stream ? `${location.hostname}:${grpc ?? 8001}` : location.host;
  const {sequence_id: sequence, sequence_start: start, sequence_end: end} = parameters ?? {};
  const named = [
    version && `model_version=${quoted(version)}`,
    sequence && `sequence_id=${sequence}, sequence_start=${start ? 'True' : 'False'}, sequence_end=${end ? 'True' : 'False'}`,
    token && `headers={"authorization": "Bearer " + os.environ["TOKEN"]}`,
  ].filter(Boolean);
  const made = tensors.map((tensor, i) =>
    `inputs.append(triton.InferInput(${quoted(tensor.name)}, [${tensor.shape.join(', ')}], "${tensor.datatype}"))\ninputs[${i}].set_data_from_numpy(${numpy(tensor)})`);
  const head = [token && 'import os', 'import numpy as np', `import tritonclient.${kind} as triton`, '',
    `client = triton.InferenceServerClient(${quoted(server)}${location.protocol === 'https:' ? ', ssl=True' : ''})`, 'inputs = []', ...made];
  const more = named.map(each => ', ' + each).join('');
  if (!stream) {
    return [...head, `reply = client.infer(${quoted(model)}, inputs${more})`, ...outputs.map(output => `print(reply.as_numpy(${quoted(output.name)}))`)].filter(line => line !== false).join('\n');
  }
  return [...head.slice(0, 1), 'import queue', ...head.slice(1), 'replies = queue.Queue()',
    `client.start_stream(lambda result, error: replies.put(error or result)${token ? ', ' + named.at(-1) : ''})`,
    `client.async_stream_infer(${quoted(model)}, inputs, enable_empty_final_response=True)`,
    'while not (reply := replies.get()).get_response().parameters["triton_final_response"].bool_param:',
    ...outputs.map(output => `    print(reply.as_numpy(${quoted(output.name)}))`), 'client.stop_stream()'].filter(line => line !== false).join('\n');
}

/** How Java makes an array: type, factory, and what stands behind each number. @type {Record<string, [string, string, string]>} */
const JAVA = {
  INT32: ['int', 'ofInts', ''], INT64: ['long', 'ofLongs', 'L'], FP32: ['float', 'ofFloats', 'f'], FP64: ['double', 'ofDoubles', ''],
  BOOL: ['boolean', 'ofBooleans', ''], BYTES: ['String', 'ofStrings', ''],
};

/** @param {import('./tensor.js').Tensor} tensor */
function javaTensor(tensor) {
  const {datatype, shape, tokens} = tensor;
  const dims = shape.join(', ');
  const elements = count(shape);
  if (JAVA[datatype]) {
    const [type, factory, suffix] = JAVA[datatype];
    if (!tokens || tokens.length > MOST) return `Tensor.${factory}(new ${type}[${elements}], ${dims})`;
    const list = datatype === 'BYTES' ? tokens.map(quoted) : tokens.map(each => plain(each) + suffix);
    return `Tensor.${factory}(new ${type}[] {${list.join(', ')}}, ${dims})`;
  }
  if (isFloat(datatype)) {
    const list = tokens && tokens.length <= MOST ? `new float[] {${tokens.map(each => plain(each) + 'f').join(', ')}}` : `new float[${elements}]`;
    return `Tensor.ofHalfFloats(DataType.${datatype}, ${list}, ${dims})`;
  }
  const raw = toBytes(tensor);
  const list = raw.length <= MOST ? `new byte[] {${[...new Int8Array(raw.buffer, raw.byteOffset, raw.length)].join(', ')}}` : `new byte[${raw.length}]`;
  return `Tensor.of(DataType.${datatype}, ByteBuffer.wrap(${list}), ${dims})`;
}

/** @param {Request} request */
function java({model, version, tensors, outputs, stream, token, grpc, parameters}) {
  const server = stream ? `grpc://${location.hostname}:${grpc ?? 8001}` : location.origin;
  const {sequence_id: sequence, sequence_start: start, sequence_end: end} = parameters ?? {};
  const builder = [
    `InferRequest.builder(${quoted(model)})`,
    version && `    .version(${quoted(version)})`,
    ...tensors.map(tensor => `    .input(${quoted(tensor.name)}, ${javaTensor(tensor)})`),
    sequence && `    .sequence(${sequence}, ${Boolean(start)}, ${Boolean(end)})`,
  ].filter(Boolean).join('\n          ');
  const options = token ? `,\n    ClientOptions.builder().header("authorization", "Bearer " + System.getenv("TOKEN")).build()` : '';
  const print = outputs.map(output => `    IO.println(response.output(${quoted(output.name)}));`).join('\n');
  return `import io.nereid.client.*;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;

void main() {
  var request =
      ${builder}
          .build();
  try (var client = InferenceClient.connect(${quoted(server)}${options});
      var response = client.infer(request)) {
${print}
  }
}`;
}

/** Which member of the message has the elements. @type {[RegExp, string][]} */
const CONTENTS = [
  [/^BOOL$/, 'bool_contents'], [/^INT(8|16|32)$/, 'int_contents'], [/^INT64$/, 'int64_contents'], [/^UINT(8|16|32)$/, 'uint_contents'],
  [/^UINT64$/, 'uint64_contents'], [/^FP32$/, 'fp32_contents'], [/^FP64$/, 'fp64_contents'], [/^BYTES$/, 'bytes_contents'],
];

/** @param {Uint8Array} raw */
const base64 = raw => btoa(Array.from(raw, byte => String.fromCharCode(byte)).join(''));

/** @param {Request} request */
function grpcurl({model, version, tensors, stream, token, grpc, parameters}) {
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
  const plainText = location.protocol === 'https:' ? '' : '-plaintext ';
  return `grpcurl ${plainText}${field ? field.trim() + ' ' : ''}-d ${shell(`{${parts.filter(Boolean).join(',')}}`)} \\\n  ${location.hostname}:${grpc ?? 8001} inference.GRPCInferenceService/${stream ? 'ModelStreamInfer' : 'ModelInfer'}`;
}
