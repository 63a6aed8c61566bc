-- Requests whose JSON has an id each, for wrk: 'wrk ... -s ids.lua URL -- BODY JSON_BYTES', where the file BODY begins
-- with '{"id":"1"'. Ids have always as many digits, so that only they differ. The last line has the figures.

local function read(path)
  local file = assert(io.open(path, "rb"))
  local all = file:read("*a")
  file:close()
  return all
end

local front, behind
local id = 100000000

function init(arguments)
  local body = read(arguments[1])
  local before, after = body:match('^({"id":")1(".*)$')
  local more = #tostring(id) - 1
  front = "POST /v2/models/identity_fp32/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: "
    .. arguments[2] + more .. "\r\nContent-Length: " .. #body + more .. "\r\n\r\n" .. before
  behind = after
end

function request()
  id = id + 1
  return front .. id .. behind
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("answered %d failed %d seconds %f ms %f %f %f %f\n", summary.requests, failed,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3, latency.max / 1e3))
end
