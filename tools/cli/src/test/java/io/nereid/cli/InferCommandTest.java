package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/** {@code nereid infer} with the real library and the bundled models. */
class InferCommandTest {

  private static final String COUNT = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16";
  private static final String ONES = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";

  private final CommandLineRun cli = new CommandLineRun();

  @TempDir Path directory;

  private static String digit(int row) throws IOException {
    String line = Files.readAllLines(Path.of("../../examples/data/digits.csv")).get(row);
    return line.substring(line.indexOf(',') + 1);
  }

  private void assertPrints(String expected, String... args) {
    assertEquals(0, cli.run(args), cli.err());
    assertEquals(expected, cli.out());
  }

  @Test
  void outputsArePrintedWithTypeAndShape() {
    assertPrints(
        """
        OUTPUT0 INT32[1,16]: 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
        OUTPUT1 INT32[1,16]: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        """,
        "infer",
        "simple",
        "--input",
        "INPUT0=" + COUNT,
        "--input",
        "INPUT1=" + ONES);
  }

  @Test
  void stringsGoInAndOut() {
    assertPrints(
        "OUTPUT1 BYTES[1,16]: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",
        "infer",
        "simple_string",
        "--output",
        "OUTPUT1",
        "--input",
        "INPUT0=[\"" + COUNT.replace(",", "\",\"") + "\"]",
        "--input",
        "INPUT1=" + ONES);
  }

  @Test
  void everyResponseOfADecoupledModelIsPrinted() throws IOException {
    String[] args = {
      "infer", "repeat", "--input", "IN=5,-6", "--input", "DELAY=0,20", "--input", "WAIT=0"
    };
    assertPrints(
        """
        OUT INT32[1]: 5
        IDX UINT32[1]: 0
        OUT INT32[1]: -6
        IDX UINT32[1]: 1
        """,
        args);
    CommandLineRun other = new CommandLineRun();
    List<String> more = new ArrayList<>(List.of(args));
    more.addAll(List.of("--json", "--repeat", "3", "--output", "IDX"));
    assertEquals(0, other.run(more.toArray(String[]::new)), other.err());
    assertEquals(2, JSON.std.listFrom(other.out()).size());
    assertTrue(other.err().startsWith("3 requests"), other.err());
  }

  @Test
  void severalRowsAreABatch() {
    assertPrints(
        "OUTPUT1 INT32[2,16]: " + "0 ".repeat(31) + "0\n",
        "infer",
        "simple",
        "--output",
        "OUTPUT1",
        "--input",
        "INPUT0=" + ONES + "," + ONES,
        "--input",
        "INPUT1=[[" + ONES + "],[" + ONES + "]]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"3|[1,3]", "1x3|[1,3]", "3x1|[3,1]"})
  void theBatchDimensionMayBeLeftOutOfAShape(String shape, String expected) {
    assertPrints(
        "OUTPUT0 FP32" + expected + ": 1.5 -2.0 0.1\n",
        "infer",
        "identity_fp32",
        "--input",
        "INPUT0=1.5, -2, 0.1",
        "--shape",
        "INPUT0=" + shape);
  }

  @Test
  void aDigitIsNamed() throws IOException {
    assertEquals(0, cli.run("infer", "digits", "--input", "image=" + digit(0)), cli.err());
    assertTrue(cli.out().contains("\n  top label: seven ("), cli.out());
  }

  @Test
  void filesHoldJsonOrBytes() throws IOException {
    Path json = Files.writeString(directory.resolve("d.json"), "[" + digit(1) + "]");
    ByteBuffer bytes = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
    for (String pixel : digit(1).split(",")) {
      bytes.putFloat(Float.parseFloat(pixel));
    }
    Path raw = Files.write(directory.resolve("d.raw"), bytes.array());
    CommandLineRun other = new CommandLineRun();
    assertEquals(0, cli.run("infer", "digits", "--input", "image=@" + json), cli.err());
    assertEquals(0, other.run("infer", "digits", "--input", "image=@" + raw), other.err());
    assertTrue(cli.out().contains("\n  top label: two ("), cli.out());
    assertEquals(cli.out(), other.out());
  }

  @Test
  @SuppressWarnings("unchecked")
  void jsonIsTheProtocolsReply() throws IOException {
    assertEquals(0, cli.run("infer", "identity_fp32", "--json", "--input", "INPUT0=6.8,1e30"));
    Map<String, Object> reply = JSON.std.mapFrom(cli.out());
    assertEquals("identity_fp32", reply.get("model_name"));
    assertEquals("1", reply.get("model_version"));
    Map<String, Object> output = ((List<Map<String, Object>>) reply.get("outputs")).getFirst();
    assertEquals(List.of(1, 2), output.get("shape"));
    assertTrue(cli.out().contains("[6.8,"), cli.out());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "identity_fp32 ../../examples/models",
        "identity_fp32 ../../examples/models/identity_fp32",
        "../../examples/models/identity_fp32"
      })
  void aModelIsFoundByItsDirectoryToo(String where) {
    List<String> arguments = new ArrayList<>(List.of("infer"));
    arguments.addAll(List.of(where.split(" ")));
    arguments.addAll(List.of("--input", "INPUT0=1"));
    assertEquals(0, cli.run(arguments.toArray(String[]::new)), cli::err);
    assertEquals("OUTPUT0 FP32[1,1]: 1.0\n", cli.out());
  }

  @Test
  void repeatingTellsHowLongItTook() {
    assertEquals(0, cli.run("infer", "identity_fp32", "--input", "INPUT0=1", "--repeat", "50"));
    assertEquals("OUTPUT0 FP32[1,1]: 1.0\n", cli.out());
    assertTrue(
        cli.err()
            .matches("50 requests, one after another: p50 .* us, p99 .* us, \\d+ requests/s\n"),
        cli.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "simple --input INPUT0=1|expected a multiple of 16 values for input 'INPUT0' INT32[16]",
        "simple --input X=1|input 'X' for model 'simple', it has INPUT0, INPUT1",
        "simple --input INPUT0=1 --output OUTPUT|it has OUTPUT0, OUTPUT1; did you mean OUTPUT0?",
        "simple --input INPUT=1|it has INPUT0, INPUT1; did you mean INPUT0?",
        "simple --input INPUT0=1.5 --shape INPUT0=1|to 2147483647 as value 1, got '1.5'",
        "simple --input INPUT0=3000000000 --shape INPUT0=1|as value 1, got '3000000000'",
        "identity_fp32 --input INPUT0=1,x|input 'INPUT0': expected a number as value 2, got 'x'",
        "identity_fp32 --input INPUT0=[1,null]|expected numbers, strings, true or false",
        "identity_fp32 --input INPUT0=[1,|input 'INPUT0' is no JSON array",
        "identity_fp32 --input INPUT0=1 --shape INPUT0=1x2|shape [1, 2] takes 2 values, got 1",
        "identity_fp32 --input INPUT0=1 --shape INPUT0=a|such as 1x16, got 'a'",
        "identity_fp32 --input INPUT0=1 --shape INPUT0=999999999999999999x999|too many",
        "identity_fp32 --input INPUT0=1 --shape X=1|--shape names 'X', but no --input does",
        "identity_fp32 --input INPUT0=1 --input INPUT0=1|--input INPUT0 is given twice",
        "identity_fp32 --input INPUT0=1 --output X|has no output 'X', it has OUTPUT0",
        "identity_fp32 --input INPUT0|expected NAME=VALUE, got 'INPUT0'",
        "identity_fp32 --input INPUT0=1 --repeat 0|expected --repeat of 1 or more, got 0",
        "identity_fp32 --input INPUT0=1 --timeout-ms 0|expected --timeout-ms of 1 or more, got 0",
        "--input INPUT0=1|Missing required parameter: 'MODEL'"
      })
  void wrongCommandLinesAreNamedPrecisely(String args, String expected) {
    assertEquals(2, cli.run(("infer " + args).split(" ")), cli.err());
    List<String> lines = cli.err().lines().toList();
    assertEquals(2, lines.size(), cli.err());
    assertTrue(lines.getFirst().contains(expected), cli.err());
    assertEquals("Try 'nereid infer --help'.", lines.getLast());
    assertEquals("", cli.out());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "nope --input X=1|there is no model 'nope' in ",
        "../models/simple --input X=1|model name must not contain path traversal characters",
        "simple --model-version 2 --input X=1|'simple' version 2 is not found",
        "simple --input INPUT0=@/no/such/file|no such file: /no/such/file",
        "identity_fp32|missing required input(s) ['INPUT0']",
        "identity_fp32 --input INPUT0=1 --repository /no/such/dir|expected a model repository at"
      })
  void failuresAreOneLine(String args, String expected) {
    assertEquals(1, cli.run(("infer " + args).split(" ")), cli.err());
    assertEquals(1, cli.err().lines().count(), cli.err());
    assertTrue(cli.err().startsWith("nereid: "), cli.err());
    assertTrue(cli.err().contains(expected), cli.err());
  }

  @Test
  void aBrokenNeighbourIsOfNoInterest() throws IOException {
    Files.createDirectories(directory.resolve("bad"));
    Files.createDirectories(directory.resolve("m/1"));
    Files.writeString(
        directory.resolve("m/config.pbtxt"),
        """
        backend: "identity"
        input { name: "IN" data_type: TYPE_UINT64 dims: 2 }
        output { name: "OUT" data_type: TYPE_UINT64 dims: 2 }
        """);
    assertPrints(
        "OUT UINT64[2]: 18446744073709551615 0\n",
        "infer",
        "m",
        "--repository",
        directory.toString(),
        "--input",
        "IN=18446744073709551615,0");
    assertEquals("", cli.err());
    assertEquals(1, cli.run("infer", "bad", "--repository", directory.toString()));
    assertTrue(cli.err().contains("there is no bad/config.pbtxt"), cli.err());
  }
}
