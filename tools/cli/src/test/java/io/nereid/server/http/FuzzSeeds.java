package io.nereid.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;

/** Requests of every kind, which fuzzing starts from. */
final class FuzzSeeds {

  private static final String[] BODIES = {
    "{\"id\":\"7\",\"inputs\":[{\"name\":\"IN\",\"shape\":[1,3],\"datatype\":\"FP32\",\"data\":"
        + "[1,-2.5e-3,NaN]}],\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"classification\":2}}]}",
    "{\"inputs\":[{\"data\":[[1],[\"\\u20ac\\n\"]],\"name\":\"IN\",\"shape\":[2,1],\"datatype\":"
        + "\"BYTES\"}],\"parameters\":{\"sequence_id\":3,\"priority\":1,\"timeout\":900000,"
        + "\"x\":\"y\",\"z\":1.5,\"b\":true}}",
    "{\"IN\":[1,2.5],\"id\":\"a\",\"parameters\":{\"timeout\":9000000}}",
    "{\"TEXT\":\"\\ud83d\\ude00\",\"stream\":true,\"id\":\"\\u0041\"}",
    "{\"key\":\"/none\",\"offset\":0,\"byte_size\":64}",
    "{\"trace_level\":[\"TIMESTAMPS\"],\"trace_rate\":\"1\",\"trace_count\":\"-1\","
        + "\"log_frequency\":null}",
    "{\"log_info\":false,\"log_verbose_level\":1,\"log_format\":\"ISO8601\",\"log_file\":\"\"}",
    "{\"ready\":true}",
    "{\"parameters\":{\"config\":\"{\\\"backend\\\":\\\"identity\\\",\\\"input\\\":[{\\\"name\\\":"
        + "\\\"IN\\\",\\\"data_type\\\":\\\"TYPE_FP32\\\",\\\"dims\\\":[2]}],\\\"output\\\":[{"
        + "\\\"name\\\":\\\"OUT\\\",\\\"data_type\\\":\\\"TYPE_FP32\\\",\\\"dims\\\":[2]}]}\","
        + "\"file:1/a\":\"AAAA\"}}",
    "{\"parameters\":{\"unload_dependents\":true}}",
  };

  private static final String[] PATHS = {
    "/v2/models/FP32/infer",
    "/v2/models/BYTES/versions/1/infer",
    "/v2/models/FP64/generate",
    "/v2/models/thrice/generate_stream",
    "/v2/systemsharedmemory/region/r/register",
    "/v2/models/FP32/trace/setting",
    "/v2/logging",
    "/v2/repository/index",
    "/v2/repository/models/new/load",
    "/v2/repository/models/INT8/unload"
  };

  private static final String[] GETS = {
    "/v2",
    "/v2/health/live",
    "/v2/health/ready",
    "/v2/models/FP32",
    "/v2/models/FP32/ready",
    "/v2/models/FP32/config",
    "/v2/models/stats",
    "/v2/models/FP32/versions/1/stats",
    "/v2/systemsharedmemory/status",
    "/v2/cudasharedmemory/region/a/status",
    "/v2/trace/setting",
    "/v2/logging",
    "/v2/models",
    "http://a/v2/models/%46P32?a=b"
  };

  /** Words that mean something, for a dictionary. */
  static final List<String> WORDS =
      List.of(
          "\r\n\r\n",
          "GET ",
          "POST ",
          "HEAD ",
          " HTTP/1.1\r\n",
          " HTTP/1.0\r\n",
          "/v2/models/",
          "/versions/1",
          "/infer",
          "/generate",
          "/generate_stream",
          "/ready",
          "/stats",
          "/config",
          "/load",
          "/unload",
          "Content-Length: ",
          "Transfer-Encoding: chunked\r\n",
          "0\r\n\r\n",
          "Inference-Header-Content-Length: ",
          "Content-Encoding: gzip\r\n",
          "Content-Encoding: deflate\r\n",
          "Accept-Encoding: gzip\r\n",
          "Connection: close\r\n",
          "Connection: keep-alive\r\n",
          "Expect: 100-continue\r\n",
          "\"inputs\"",
          "\"outputs\"",
          "\"name\"",
          "\"IN\"",
          "\"OUT\"",
          "\"shape\"",
          "\"datatype\"",
          "\"data\"",
          "\"parameters\"",
          "\"binary_data_size\"",
          "\"binary_data\"",
          "\"binary_data_output\"",
          "\"classification\"",
          "\"shared_memory_region\"",
          "\"shared_memory_offset\"",
          "\"shared_memory_byte_size\"",
          "\"sequence_id\"",
          "\"sequence_start\"",
          "\"timeout\"",
          "\"priority\"",
          "FP32",
          "FP64",
          "INT64",
          "UINT64",
          "INT8",
          "UINT16",
          "BOOL",
          "FP16",
          "BYTES",
          "queued",
          "thrice",
          "NaN",
          "Infinity",
          "-Infinity",
          "true",
          "false",
          "null",
          "\\u0000",
          "\\ud83d\\ude00",
          "9223372036854775807",
          "18446744073709551616",
          "1e400",
          "4.9e-324",
          "http-port: ",
          "model-repository: ",
          "log-verbose: ",
          "&a ",
          "*a",
          "--- ");

  private FuzzSeeds() {}

  /** Requests as they travel. */
  static List<byte[]> http() {
    List<byte[]> seeds = new ArrayList<>();
    for (int i = 0; i < BODIES.length; i++) {
      seeds.add(RawClient.request(PATHS[i], "", utf8(BODIES[i])));
    }
    for (String get : GETS) {
      seeds.add(utf8("GET " + get + " HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
    seeds.add(utf8("HEAD /v2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    seeds.add(utf8("HEAd /v2 HTTP/1.0\r\nC: keep-alive\r\n\r\n"));
    seeds.add(binary("FP32", 1, 16, "Accept-Encoding: gzip\r\n"));
    seeds.add(binary("queued", 2, 16, "X-Request-Id: q\r\ntraceparent: 00-1-1-01\r\n"));
    seeds.add(binary("FP16", 2, 8, "Expect: 100-continue\r\n"));
    seeds.add(
        RawClient.request(
            "/v2/models/UINT16/infer", "Inference-Header-Content-Length: 0\r\n", new byte[8]));
    byte[] body = utf8(BODIES[0]);
    seeds.add(RawClient.request(PATHS[0], "Content-Encoding: gzip\r\n", gzip(body)));
    seeds.add(RawClient.request(PATHS[0], "Content-Encoding: deflate\r\n", deflate(body)));
    seeds.add(chunked());
    seeds.add(RawClient.concat(seeds.getFirst(), seeds.get(3))); // pipelined
    seeds.add(RawClient.concat(chunked(), binary("FP32", 1, 16, "Connection: close\r\n")));
    return seeds;
  }

  /** What stands in JSON, one body each, and what parsers differ in. */
  static List<byte[]> json() {
    List<byte[]> seeds = new ArrayList<>();
    for (String body : BODIES) {
      seeds.add(utf8(body));
    }
    seeds.add(utf8("[0,-0,-0.0,1E+5,1e-400,1e400,0.1,9223372036854775807,-9223372036854775808]"));
    seeds.add(utf8("[18446744073709551615,18446744073709551616,1.17549435e-38,4.9e-324,1.5]"));
    seeds.add(utf8("[NaN,Infinity,-Infinity,+Infinity,INF,-INF,null,true,false]"));
    seeds.add(utf8("[16777217.0,0.10000000149011612,8.589973e9,2.2250738585072014e-308]"));
    seeds.add(
        utf8(
            " { \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\" :\t[[ ],{ },"
                + " \"\u00e9\ud83d\ude00\"] } "));
    seeds.add(utf8("{\"unknown\":[\"\\ud83dx\"]}"));
    seeds.add(utf8("[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"));
    return seeds;
  }

  /** Files for --config. */
  static List<byte[]> settings() {
    return List.of(
        utf8("# a comment\nhttp-port: 8000\nmodel_repository: [a, 'b']\nlog-verbose: 1\n"),
        utf8("model-repository:\n  - /models\n  - \"x\\n\"\nmodel-control-mode: explicit\n"),
        utf8("--- {http-address: 127.0.0.1, load-model: ['*'], cache-config: 'local,size=7'}\n"),
        utf8("exit-timeout-secs: ~\nlog-format: json\nhttp-restricted-api: |\n  health:a=b\n"),
        utf8("%YAML 1.2\n---\nhttp-max-input-size: 0x10\n...\n---\na: &x b\nc: *x\n"));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] binary(String model, int count, int byteSize, String fields) {
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\""
            + (model.equals("queued") ? "FP32" : model)
            + "\",\"shape\":["
            + count
            + ","
            + 4 / count
            + "],\"parameters\":{\"binary_data_size\":"
            + byteSize
            + "}}],\"parameters\":{\"binary_data_output\":true}}";
    return RawClient.request(
        "/v2/models/" + model + "/infer",
        fields + "Inference-Header-Content-Length: " + json.length() + "\r\n",
        RawClient.concat(utf8(json), new byte[byteSize]));
  }

  private static byte[] chunked() {
    byte[] body = utf8(BODIES[0]);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        utf8("POST " + PATHS[0] + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int at = 0; at < body.length; at += 30) {
      byte[] piece = Arrays.copyOfRange(body, at, Math.min(body.length, at + 30));
      all.writeBytes(utf8(Integer.toHexString(piece.length) + ";x=y\r\n"));
      all.writeBytes(piece);
      all.writeBytes(utf8("\r\n"));
    }
    all.writeBytes(utf8("0\r\nA: b\r\n\r\n"));
    return all.toByteArray();
  }

  private static byte[] gzip(byte[] body) {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (GZIPOutputStream to = new GZIPOutputStream(compressed)) {
      to.write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return compressed.toByteArray();
  }

  private static byte[] deflate(byte[] body) {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (DeflaterOutputStream to = new DeflaterOutputStream(compressed)) {
      to.write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return compressed.toByteArray();
  }
}
