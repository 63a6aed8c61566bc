package io.nereid.flink;

import java.util.List;
import org.apache.flink.table.functions.AsyncPredictFunction;
import org.apache.flink.table.ml.AsyncPredictRuntimeProvider;
import org.apache.flink.table.ml.ModelProvider;

/** A model of a catalog, for the planner; makes the function that tasks execute. */
record NereidModelProvider(ProviderOptions options, List<Column> inputs, List<Column> outputs)
    implements AsyncPredictRuntimeProvider {

  @Override
  public AsyncPredictFunction createAsyncPredictFunction(Context context) {
    return new PredictRows(options, inputs, outputs);
  }

  @Override
  public ModelProvider copy() {
    return this;
  }
}
