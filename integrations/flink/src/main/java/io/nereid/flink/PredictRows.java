package io.nereid.flink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.ThreadSafeSimpleCounter;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.AsyncPredictFunction;
import org.apache.flink.table.functions.FunctionContext;

/**
 * Predicts rows, each by a request of one row. Flink makes one object for each task, whose thread
 * calls it; responses come on other threads. Public, since classes that Flink generates refer to
 * it.
 */
public final class PredictRows extends AsyncPredictFunction {

  private static final long serialVersionUID = 1;
  private static final int JAVA_OF_THE_RUNTIME = 25;

  private final ProviderOptions options;
  private final Column[] inputColumns;
  private final Column[] outputColumns;

  private transient Scorer scorer;
  private transient List<InputColumn> inputs;
  private transient List<OutputColumn> outputs;
  private transient List<String> outputNames;
  private transient Counter requests;
  private transient Counter failures;
  private transient Counter microseconds;
  private transient AtomicInteger inFlight;

  PredictRows(ProviderOptions options, List<Column> inputColumns, List<Column> outputColumns) {
    this.options = options;
    this.inputColumns = inputColumns.toArray(Column[]::new);
    this.outputColumns = outputColumns.toArray(Column[]::new);
  }

  @Override
  public void open(FunctionContext context) {
    scorer = scorer();
    inputs = new ArrayList<>();
    for (Column column : inputColumns) {
      inputs.add(
          new InputColumn(
              column, inputs.size(), tensor("input", column, scorer.inputs(), inputColumns)));
    }
    outputs = new ArrayList<>();
    for (Column column : outputColumns) {
      outputs.add(
          new OutputColumn(column, tensor("output", column, scorer.outputs(), outputColumns)));
    }
    outputNames = outputs.stream().map(OutputColumn::tensorName).toList();
    register(context.getMetricGroup().addGroup("nereid").addGroup("model", options.model()));
  }

  private Scorer scorer() {
    if (options.url() != null) {
      return new ServerScorer(options);
    }
    int java = Runtime.version().feature();
    if (java < JAVA_OF_THE_RUNTIME) {
      throw new IllegalStateException(
          ("expected Java %d or newer for 'repository', which executes models in the TaskManager,"
                  + " got %d: name a server by 'url', or start the TaskManagers with a newer Java")
              .formatted(JAVA_OF_THE_RUNTIME, java));
    }
    return new EmbeddedScorer(options);
  }

  /** Returns the tensor of a column's name, or the only tensor for the only column. */
  private TensorInfo tensor(
      String kind, Column column, List<TensorInfo> tensors, Column[] columns) {
    for (TensorInfo tensor : tensors) {
      if (tensor.name().equals(column.name()) || tensors.size() == 1 && columns.length == 1) {
        return tensor;
      }
    }
    throw new IllegalArgumentException(
        "model '%s' has no %s '%s' for the column of that name, it has %s"
            .formatted(
                options.model(),
                kind,
                column.name(),
                tensors.stream().map(TensorInfo::name).toList()));
  }

  private void register(MetricGroup group) {
    requests = group.counter("requests", new ThreadSafeSimpleCounter());
    failures = group.counter("failures", new ThreadSafeSimpleCounter());
    microseconds = group.counter("microseconds", new ThreadSafeSimpleCounter());
    inFlight = new AtomicInteger();
    group.gauge("inFlight", inFlight::get);
  }

  @Override
  public CompletableFuture<Collection<RowData>> asyncPredict(RowData row) {
    requests.inc();
    inFlight.incrementAndGet();
    long startNs = System.nanoTime();
    CompletableFuture<Collection<RowData>> prediction;
    try {
      prediction = scorer.score(tensors(row), outputNames, this::prediction);
    } catch (RuntimeException e) {
      prediction = CompletableFuture.failedFuture(e);
    }
    return prediction.handle((rows, failure) -> {
      inFlight.decrementAndGet();
      microseconds.inc((System.nanoTime() - startNs) / 1000);
      return failure == null ? rows : failed(failure);
    });
  }

  private List<TensorValue> tensors(RowData row) {
    List<TensorValue> tensors = new ArrayList<>(inputs.size());
    for (InputColumn input : inputs) {
      TensorValue tensor = input.value(row);
      if (tensor != null) { // the model itself refuses a request without a needed input
        tensors.add(tensor);
      }
    }
    return tensors;
  }

  private Collection<RowData> prediction(List<TensorValue> tensors) {
    GenericRowData row = new GenericRowData(outputs.size());
    for (int i = 0; i < outputs.size(); i++) {
      row.setField(i, outputs.get(i).value(tensors.get(i)));
    }
    return List.of(row);
  }

  private Collection<RowData> failed(Throwable failure) {
    failures.inc();
    if (options.skipsFailures()) {
      return List.of();
    }
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    throw new IllegalStateException(
        "model '%s': %s".formatted(options.model(), cause.getMessage()), cause);
  }

  @Override
  public void close() {
    if (scorer != null) {
      scorer.close();
      scorer = null;
    }
  }
}
