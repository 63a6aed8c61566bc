package io.nereid.internal.config;

import io.nereid.model.TensorSpec;
import java.util.List;

/** Holds what is configured for tensors against what the model's own file says of them. */
final class SignatureCheck {

  private final ConfigNode root;
  private final int maxBatchSize;

  SignatureCheck(ConfigNode root, int maxBatchSize) {
    this.root = root;
    this.maxBatchSize = maxBatchSize;
  }

  /** The model's own tensor of the same name. */
  static TensorSpec find(ConfigTensor tensor, List<TensorSpec> own) {
    return own.stream()
        .filter(one -> one.name().equals(tensor.name()))
        .findFirst()
        .orElseThrow(() ->
            tensor
                .node()
                .invalid(
                    tensor.shown()
                        + " is configured, but the model has no such "
                        + tensor.kind()
                        + ": it has "
                        + own.stream().map(one -> "'" + one.name() + "'").toList()));
  }

  /** Throws where a tensor is configured otherwise than the model has it. */
  void check(ConfigTensor tensor, TensorSpec own) {
    ConfigTensor.type(tensor.type())
        .filter(configured -> configured != own.dataType())
        .ifPresent(configured -> {
          throw tensor
              .node()
              .invalid(
                  tensor.number("data_type"),
                  tensor.shown()
                      + " is configured as "
                      + tensor.type()
                      + ", but the model has "
                      + own.dataType()
                      + ": set data_type: "
                      + ConfigTensor.configured(own.dataType()));
        });
    checkDims(tensor, own);
  }

  private void checkDims(ConfigTensor tensor, TensorSpec own) {
    List<Long> dims = tensor.dims();
    List<Long> seen = tensor.seen();
    // A file that tells no shape looks like a scalar; each run shows whether the configured one
    // holds.
    if (dims.isEmpty() || own.dims().isEmpty()) {
      return;
    }
    List<Long> row = own.dims().subList(maxBatchSize > 0 ? 1 : 0, own.dims().size());
    if (ConfigTensor.fit(seen, row) && (maxBatchSize == 0 || batchFits(own))) {
      return;
    }
    throw tensor
        .node()
        .invalid(
            tensor.number("dims"),
            tensor.shown()
                + " is configured with dims "
                + ConfigTensor.text(dims)
                + (seen.equals(dims) ? "" : " and reshape " + ConfigTensor.text(seen))
                + batch()
                + ", but the model has "
                + ConfigTensor.text(own.dims())
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
    String all = "dims: " + ConfigTensor.text(own.dims());
    if (maxBatchSize > 0) {
      return batchFits(own)
          ? "set dims: "
              + ConfigTensor.text(own.dims().subList(1, own.dims().size()))
              + ", which leave out the batch dimension"
          : noBatch(all);
    }
    boolean batchLeftOut =
        hasFreeFirst(own) && ConfigTensor.fit(seen, own.dims().subList(1, own.dims().size()));
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
              + ConfigTensor.text(own.dims())
              + ", while max_batch_size is "
              + maxBatchSize
              + ": "
              + noBatch("dims: " + ConfigTensor.text(own.dims())));
    }
    return own.dims().subList(1, own.dims().size());
  }
}
