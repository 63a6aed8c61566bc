package io.nereid.flink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogModel;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogModel;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.functions.AsyncPredictFunction;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.types.DataType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

/** Rows through the provider as Flink calls it, executed in this process by real models. */
class NereidModelProviderTest {

  @TempDir private Path repository;

  /** A model that answers with its inputs: each is "NAME DATATYPE DIMS". */
  private void echo(String name, String... tensors) throws IOException {
    StringBuilder config = new StringBuilder("backend: \"identity\"\nmax_batch_size: 8\n");
    for (String kind : List.of("input", "output")) {
      for (String tensor : tensors) {
        String[] parts = tensor.split(" ", 3);
        config.append(
            "%s { name: \"%s\" data_type: TYPE_%s dims: %s }\n"
                .formatted(
                    kind,
                    parts[0],
                    parts[1].equals("BYTES") ? "STRING" : parts[1],
                    parts.length > 2 ? parts[2] : "[ 1 ]"));
      }
    }
    Files.createDirectories(repository.resolve(name).resolve("1"));
    Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
  }

  private static Column column(String name, DataType type) {
    return Column.physical(name, type);
  }

  private AsyncPredictFunction function(
      Map<String, String> options, List<Column> inputs, List<Column> outputs) {
    Map<String, String> all = new HashMap<>(options);
    all.put("provider", "nereid");
    CatalogModel model =
        CatalogModel.of(
            Schema.newBuilder().fromResolvedSchema(ResolvedSchema.of(inputs)).build(),
            Schema.newBuilder().fromResolvedSchema(ResolvedSchema.of(outputs)).build(),
            all,
            null);
    NereidModelProvider provider =
        (NereidModelProvider)
            FactoryUtil.createModelProvider(
                null,
                ObjectIdentifier.of("c", "d", "m"),
                ResolvedCatalogModel.of(
                    model, ResolvedSchema.of(inputs), ResolvedSchema.of(outputs)),
                new Configuration(),
                getClass().getClassLoader(),
                true);
    return ((NereidModelProvider) provider.copy()).createAsyncPredictFunction(null);
  }

  private RowData predict(String model, List<Column> inputs, List<Column> outputs, RowData row)
      throws Exception {
    AsyncPredictFunction function =
        function(Map.of("repository", repository.toString(), "model", model), inputs, outputs);
    function.open(new FunctionContext(null));
    try {
      Collection<RowData> rows = function.asyncPredict(row).join();
      assertEquals(1, rows.size());
      return rows.iterator().next();
    } finally {
      function.close();
    }
  }

  private String failure(String model, List<Column> inputs, List<Column> outputs, RowData row) {
    Exception thrown = assertThrows(Exception.class, () -> predict(model, inputs, outputs, row));
    boolean isWrapped =
        thrown instanceof CompletionException || thrown.getMessage().startsWith("Unable to create");
    return (isWrapped ? thrown.getCause() : thrown).getMessage();
  }

  @Test
  @EnabledForJreRange(minVersion = 25)
  void everyTypeGoesToTheModelAndComesBack() throws Exception {
    echo(
        "all",
        "flag BOOL",
        "tiny INT8",
        "small INT16",
        "int INT32",
        "big INT64",
        "byte UINT8",
        "word UINT16",
        "float FP32",
        "double FP64",
        "half FP16",
        "brain BF16",
        "money FP64",
        "text BYTES",
        "bytes BYTES",
        "day INT32",
        "instant INT64",
        "vector FP32 [ -1 ]",
        "matrix INT32 [ -1, -1 ]",
        "fields FP32 [ 2 ]",
        "names BYTES [ -1 ]");
    DataType pair =
        DataTypes.ROW(
            DataTypes.FIELD("x", DataTypes.FLOAT()), DataTypes.FIELD("y", DataTypes.FLOAT()));
    List<Column> columns =
        List.of(
            column("flag", DataTypes.BOOLEAN()),
            column("tiny", DataTypes.TINYINT()),
            column("small", DataTypes.SMALLINT()),
            column("int", DataTypes.INT()),
            column("big", DataTypes.BIGINT()),
            column("byte", DataTypes.SMALLINT()),
            column("word", DataTypes.INT()),
            column("float", DataTypes.FLOAT()),
            column("double", DataTypes.DOUBLE()),
            column("half", DataTypes.FLOAT()),
            column("brain", DataTypes.FLOAT()),
            column("money", DataTypes.DECIMAL(10, 2)),
            column("text", DataTypes.STRING()),
            column("bytes", DataTypes.BYTES()),
            column("day", DataTypes.DATE()),
            column("instant", DataTypes.TIMESTAMP_LTZ(3)),
            column("vector", DataTypes.ARRAY(DataTypes.FLOAT())),
            column("matrix", DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INT()))),
            column("fields", pair),
            column("names", DataTypes.ARRAY(DataTypes.STRING())));
    GenericRowData row =
        GenericRowData.of(
            true,
            (byte) -7,
            (short) -700,
            -70_000,
            Long.MIN_VALUE,
            (short) 255,
            65_535,
            1.25f,
            Math.PI,
            -0.5f,
            2.5f,
            DecimalData.fromBigDecimal(new BigDecimal("12345678.90"), 10, 2),
            StringData.fromString("grüße"),
            new byte[] {0, -1, 2},
            20_000,
            TimestampData.fromEpochMillis(1_700_000_000_123L),
            new GenericArrayData(new float[] {1, 2, 3}),
            new GenericArrayData(
                new Object[] {
                  new GenericArrayData(new int[] {1, 2}), new GenericArrayData(new int[] {3, 4})
                }),
            GenericRowData.of(5f, 6f),
            new GenericArrayData(
                new Object[] {StringData.fromString("a"), StringData.fromString("")}));
    RowData answer = predict("all", columns, columns, row);
    for (int i = 0; i < columns.size(); i++) {
      RowData.FieldGetter field =
          RowData.createFieldGetter(columns.get(i).getDataType().getLogicalType(), i);
      assertEquals(
          plain(field.getFieldOrNull(row)),
          plain(field.getFieldOrNull(answer)),
          columns.get(i).getName());
    }
  }

  /** A value whose equality is that of its elements. */
  private static Object plain(Object value) {
    if (value instanceof byte[] bytes) {
      return Arrays.toString(bytes);
    }
    if (value instanceof GenericArrayData array) {
      Object[] boxed = new Object[array.size()];
      for (int i = 0; i < boxed.length; i++) {
        boxed[i] =
            array.isPrimitiveArray()
                ? java.lang.reflect.Array.get(array.toObjectArray(), i)
                : plain(array.toObjectArray()[i]);
      }
      return Arrays.asList(boxed);
    }
    return value;
  }

  @Test
  @EnabledForJreRange(minVersion = 25)
  void flatArrayFillsAShapeWhoseDimensionsAreKnown() throws Exception {
    echo("image", "x FP32 [ 2, 3 ]");
    List<Column> columns = List.of(column("pixels", DataTypes.ARRAY(DataTypes.FLOAT())));
    float[] pixels = {1, 2, 3, 4, 5, 6};
    RowData answer =
        predict("image", columns, columns, GenericRowData.of(new GenericArrayData(pixels)));
    ArrayData array = answer.getArray(0);
    assertArrayEquals(pixels, array.toFloatArray());
  }

  @Test
  @EnabledForJreRange(minVersion = 25)
  void nullInsideAnArrayIsNamed() throws Exception {
    echo("floats", "x FP32 [ -1 ]");
    echo("ints", "x INT32 [ -1 ]");
    String said = ": column 'x' has a NULL inside: expected a value for each element";
    for (Map.Entry<String, DataType> each :
        Map.of("floats", DataTypes.FLOAT(), "ints", DataTypes.INT()).entrySet()) {
      List<Column> columns = List.of(column("x", DataTypes.ARRAY(each.getValue())));
      assertEquals(
          "model '" + each.getKey() + "'" + said,
          failure(
              each.getKey(),
              columns,
              columns,
              GenericRowData.of(new GenericArrayData(new Object[] {null}))));
    }
  }

  @Test
  @EnabledForJreRange(minVersion = 25)
  void errorsSayTheColumnAndTheRemedy() throws Exception {
    echo("two", "a UINT8", "b FP32");
    Column a = column("a", DataTypes.INT());
    Column b = column("b", DataTypes.FLOAT());
    RowData row = GenericRowData.of(256, 1f);
    assertEquals(
        "model 'two': column 'a' has 256: expected 0 to 255 for UINT8",
        failure("two", List.of(a, b), List.of(b), row));
    assertEquals(
        "model 'two' has no input 'c' for the column of that name, it has [a, b]",
        failure("two", List.of(a, column("c", DataTypes.FLOAT())), List.of(b), row));
    assertEquals(
        "column 'b' is DOUBLE and input 'b' FP32: expected a type without loss, see CAST",
        failure("two", List.of(a, column("b", DataTypes.DOUBLE())), List.of(b), row));
    assertEquals(
        "column 'b' is INT and output 'b' FP32: expected a column that holds all of its values",
        failure("two", List.of(a, b), List.of(column("b", DataTypes.INT())), row));
    assertTrue(
        failure("two", List.of(a, b), List.of(b), GenericRowData.of(null, 1f))
            .contains("missing required input(s) ['a']"));
    assertTrue(failure("three", List.of(a), List.of(b), row).contains("three"));
    assertEquals(
        "INPUT column 'm' is MAP<INT, INT>: expected BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT,"
            + " DOUBLE, DECIMAL, CHAR, STRING, BINARY, BYTES, DATE, TIME, TIMESTAMP or INTERVAL, or"
            + " an ARRAY or a ROW of one of these",
        failure(
            "two",
            List.of(column("m", DataTypes.MAP(DataTypes.INT(), DataTypes.INT()))),
            List.of(b),
            row));
  }

  @Test
  void optionsThatDoNotFitAreRefused() {
    List<Column> columns = List.of(column("x", DataTypes.FLOAT()));
    assertTrue(refusal(Map.of("model", "m"), columns).endsWith("got neither"));
    assertTrue(
        refusal(Map.of("model", "m", "url", "grpc://h:1", "repository", "/r"), columns)
            .endsWith("got both"));
    assertEquals(
        "expected 'on-error' to be 'fail' or 'skip', got 'stop'",
        refusal(Map.of("model", "m", "repository", "/r", "on-error", "stop"), columns));
    assertEquals(
        "expected 'token' beside 'url' alone, got it beside 'repository'",
        refusal(Map.of("model", "m", "repository", "/r", "token", "t"), columns));
  }

  private String refusal(Map<String, String> options, List<Column> columns) {
    return assertThrows(Exception.class, () -> function(options, columns, columns))
        .getCause()
        .getMessage();
  }

  @Test
  @EnabledForJreRange(minVersion = 25)
  void rowThatFailsIsLeftOutWhereThatIsWanted() throws Exception {
    echo("one", "x UINT8");
    List<Column> columns = List.of(column("x", DataTypes.INT()));
    AsyncPredictFunction function =
        function(
            Map.of("repository", repository.toString(), "model", "one", "on-error", "skip"),
            columns,
            columns);
    function.open(new FunctionContext(null));
    assertTrue(function.asyncPredict(GenericRowData.of(-1)).join().isEmpty());
    assertEquals(7, function.asyncPredict(GenericRowData.of(7)).join().iterator().next().getInt(0));
    function.close();
  }

  @Test
  @EnabledForJreRange(maxVersion = 24)
  void olderJavaIsToldToAskAServer() {
    List<Column> columns = List.of(column("x", DataTypes.FLOAT()));
    assertEquals(
        "expected Java 25 or newer for 'repository', which executes models in the TaskManager, got "
            + Runtime.version().feature()
            + ": name a server by 'url', or start the TaskManagers with a newer Java",
        failure("m", columns, columns, GenericRowData.of(1f)));
  }
}
