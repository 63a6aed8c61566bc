package io.nereid.internal.config;

import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelOutput;
import java.util.List;

/** Holds what is configured for tensors against what the model's own file says of them. */
final class SignatureCheck {

  private final ConfigNode root;
  private final int maxBatchSize;

  SignatureCheck(ConfigNode root, int maxBatchSize) {
    this.root = root;
    this.maxBatchSize = maxBatchSize;
  }

  /** The model's own tensor of this name. */
  TensorSpec find(ConfigNode node, String kind, String name, List<TensorSpec> own) {
    return own.stream()
        .filter(tensor -> tensor.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            node.invalid(
                kind
                    + " '"
                    + name
                    + "' is configured, but the model has no such "
                    + kind
                    + ": it has "
                    + own.stream().map(tensor -> "'" + tensor.name() + "'").toList()));
  }

  void input(ConfigNode node, TensorSpec own) {
    ModelInput input = node.as(ModelInput.class);
    checkType(node, ModelInput.DATA_TYPE_FIELD_NUMBER, "input", input.getDataType(), own);
    List<Long> seen = input.hasReshape() ? input.getReshape().getShapeList() : input.getDimsList();
    checkDims(node, ModelInput.DIMS_FIELD_NUMBER, "input", input.getDimsList(), seen, own);
  }

  void output(ConfigNode node, TensorSpec own) {
    ModelOutput output = node.as(ModelOutput.class);
    checkType(node, ModelOutput.DATA_TYPE_FIELD_NUMBER, "output", output.getDataType(), own);
    List<Long> seen =
        output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList();
    checkDims(node, ModelOutput.DIMS_FIELD_NUMBER, "output", output.getDimsList(), seen, own);
  }

  private static void checkType(
      ConfigNode node, int number, String kind, io.nereid.proto.DataType type, TensorSpec own) {
    TensorWords.type(type)
        .filter(configured -> configured != own.dataType())
        .ifPresent(configured -> {
          throw node.invalid(
              number,
              kind
                  + " '"
                  + own.name()
                  + "' is configured as "
                  + type
                  + ", but the model has "
                  + own.dataType()
                  + ": set data_type: "
                  + TensorWords.configured(own.dataType()));
        });
  }

  private void checkDims(
      ConfigNode node, int number, String kind, List<Long> dims, List<Long> seen, TensorSpec own) {
    // A file that tells no shape looks like a scalar; each run shows whether the configured one
    // holds.
    if (dims.isEmpty() || own.dims().isEmpty()) {
      return;
    }
    List<Long> row = own.dims().subList(maxBatchSize > 0 ? 1 : 0, own.dims().size());
    if (TensorWords.fit(seen, row) && (maxBatchSize == 0 || batchFits(own))) {
      return;
    }
    throw node.invalid(
        number,
        kind
            + " '"
            + own.name()
            + "' is configured with dims "
            + TensorWords.text(dims)
            + (seen.equals(dims) ? "" : " and reshape " + TensorWords.text(seen))
            + batch()
            + ", but the model has "
            + TensorWords.text(own.dims())
            + ": "
            + advice(seen, own));
  }

  static boolean hasFreeFirst(TensorSpec own) {
    return !own.dims().isEmpty() && own.dims().getFirst() < 0;
  }

  private String batch() {
    return maxBatchSize > 0
        ? " after the batch dimension (max_batch_size is " + maxBatchSize + ")"
        : " and no batch dimension (max_batch_size is 0)";
  }

  /** The first dimension is free, or says 1 and no batch is larger. */
  private boolean batchFits(TensorSpec own) {
    return hasFreeFirst(own)
        || (!own.dims().isEmpty() && own.dims().getFirst() == 1 && maxBatchSize == 1);
  }

  private String advice(List<Long> seen, TensorSpec own) {
    String all = "dims: " + TensorWords.text(own.dims());
    if (maxBatchSize > 0) {
      return batchFits(own)
          ? "set dims: "
              + TensorWords.text(own.dims().subList(1, own.dims().size()))
              + ", which leave out the batch dimension"
          : noBatch(all);
    }
    boolean batchLeftOut =
        hasFreeFirst(own) && TensorWords.fit(seen, own.dims().subList(1, own.dims().size()));
    return "set "
        + all
        + (batchLeftOut
            ? ", or max_batch_size to 1 or more if the first dimension is the batch"
            : "");
  }

  private static String noBatch(String all) {
    return "the model has no free first dimension for the batch: set max_batch_size: 0 and "
        + all
        + ", or export the model with a dynamic first dimension";
  }

  /** The model's own dims as a configuration has them: without the batch dimension. */
  List<Long> row(String kind, TensorSpec own) {
    if (maxBatchSize == 0) {
      return own.dims();
    }
    if (!batchFits(own)) {
      throw root.invalid(
          kind
              + " '"
              + own.name()
              + "' has no dims in the configuration, and the model's are "
              + TensorWords.text(own.dims())
              + ", while max_batch_size is "
              + maxBatchSize
              + ": "
              + noBatch("dims: " + TensorWords.text(own.dims())));
    }
    return own.dims().subList(1, own.dims().size());
  }
}
