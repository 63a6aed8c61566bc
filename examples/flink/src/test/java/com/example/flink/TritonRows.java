package com.example.flink;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.model.triton.TritonInferenceModelFunction;
import org.apache.flink.model.triton.TritonModelProviderFactory;
import org.apache.flink.streaming.api.functions.async.ResultFuture;
import org.apache.flink.streaming.api.functions.async.RichAsyncFunction;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogModel;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogModel;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.ModelProviderFactory;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.types.Row;

/**
 * Sends rows with Flink's own function for Triton. Its version 2.3.0 does not run from SQL: its
 * check of the columns refuses each model, and its function cannot be serialized. So the check is
 * left out here, and each task makes a function.
 */
final class TritonRows extends RichAsyncFunction<Row, Row> {

  private static final long serialVersionUID = 1;

  private final Map<String, String> options;
  private transient TritonInferenceModelFunction function;

  TritonRows(Map<String, String> options) {
    this.options = options;
  }

  @Override
  public void open(OpenContext context) throws Exception {
    function =
        new TritonInferenceModelFunction(new ModelContext(options), Configuration.fromMap(options)) {
          private static final long serialVersionUID = 1;

          @Override
          protected void validateSingleColumnSchema(
              ResolvedSchema schema, LogicalType expected, String kind) {}
        };
    function.open(new FunctionContext(getRuntimeContext()));
  }

  @Override
  public void asyncInvoke(Row row, ResultFuture<Row> result) {
    Object[] image = (Object[]) row.getField("image");
    function
        .asyncPredict(GenericRowData.of(new GenericArrayData(image)))
        .whenComplete(
            (rows, failure) -> {
              if (failure == null) {
                result.complete(List.of(Row.of(image, floats(rows))));
              } else {
                result.completeExceptionally(failure);
              }
            });
  }

  private static Float[] floats(Collection<RowData> rows) {
    float[] values = rows.iterator().next().getArray(0).toFloatArray();
    Float[] boxed = new Float[values.length];
    for (int i = 0; i < boxed.length; i++) {
      boxed[i] = values[i];
    }
    return boxed;
  }

  @Override
  public void close() throws Exception {
    if (function != null) {
      function.close();
    }
  }

  /** A model of identity as a catalog has it. */
  private record ModelContext(Map<String, String> options) implements ModelProviderFactory.Context {

    @Override
    public ObjectIdentifier getObjectIdentifier() {
      return ObjectIdentifier.of("c", "d", "echo");
    }

    @Override
    public ResolvedCatalogModel getCatalogModel() {
      ResolvedSchema input = schema("INPUT0");
      ResolvedSchema output = schema("OUTPUT0");
      return ResolvedCatalogModel.of(
          CatalogModel.of(
              Schema.newBuilder().fromResolvedSchema(input).build(),
              Schema.newBuilder().fromResolvedSchema(output).build(),
              options,
              null),
          input,
          output);
    }

    private static ResolvedSchema schema(String name) {
      return ResolvedSchema.of(Column.physical(name, DataTypes.ARRAY(DataTypes.FLOAT())));
    }

    @Override
    public ReadableConfig getConfiguration() {
      return new Configuration();
    }

    @Override
    public ClassLoader getClassLoader() {
      return TritonModelProviderFactory.class.getClassLoader();
    }

    @Override
    public boolean isTemporary() {
      return true;
    }
  }
}
