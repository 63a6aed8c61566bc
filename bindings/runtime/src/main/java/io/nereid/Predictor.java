package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.Names;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

/**
 * A model as a function of records, whose components are its inputs and outputs by name:
 *
 * {@snippet class="io.nereid.PredictorTest" region="predict"}
 *
 * <p>Making a predictor throws if the records do not fit the model. A character that Java's names
 * cannot have is {@code _} in the component's name: {@code pixel_values} is {@code pixel-values},
 * too.
 *
 * <p>A component is an array, a single value, or a {@link io.nereid.tensor.Tensor}. {@code float[]}
 * has a tensor's elements in row-major order, {@code float[][]} and deeper its dimensions, where
 * the batch dimension may be left out for one row. Elements are {@code float} for FP32, and for
 * FP16 and BF16 converted; {@code double}, {@code long}, {@code int}, {@code short}, {@code byte}
 * for integers of their size, signed or not; {@code boolean}; {@code String}. An input may be a
 * {@link java.nio.Buffer}, too: tensors and direct buffers are read where they are, as {@link
 * InferRequest#input} says. An optional input that is null is left out; other outputs than those of
 * the record are not computed where the model can do without.
 *
 * <p>Any thread may call. After a reload of the model the records are checked again.
 */
public final class Predictor<I extends Record, O extends Record> {

  /** The fit of the records to one load of the model. */
  private record Fit(ModelSpec spec, TensorField[] inputs, TensorField[] outputs) {

    boolean wantsAll() {
      return outputs.length == spec.outputs().size();
    }
  }

  private final Model model;
  private final RecordType<I> input;
  private final RecordType<O> output;
  private volatile Fit fit;

  private Predictor(Model model, RecordType<I> input, RecordType<O> output) {
    this.model = model;
    this.input = input;
    this.output = output;
    fit = fitted(model.spec());
  }

  /**
   * A predictor; {@link IllegalArgumentException} names what does not fit the model.
   *
   * @param input has a component for each input, but for those that are optional
   * @param output has components for the outputs that are wanted
   */
  public static <I extends Record, O extends Record> Predictor<I, O> of(
      Model model, Class<I> input, Class<O> output) {
    return new Predictor<>(
        Checks.notNull(model, "model"),
        new RecordType<>(Checks.notNull(input, "input")),
        new RecordType<>(Checks.notNull(output, "output")));
  }

  /**
   * Sends the inputs and waits for the outputs, as {@link InferRequest#infer} does. The outputs are
   * copies. A record with tensors, which are views, comes from {@link #read} instead.
   */
  public O predict(I values) {
    for (TensorField field : fit().outputs) {
      field.checkOutlives();
    }
    try (InferRequest request = fill(model.newRequest(), values);
        InferResponse response = request.infer()) {
      return read(response);
    }
  }

  /**
   * Gives a request the inputs, for callers that need more than {@link #predict}: a deadline, a
   * sequence, an answer that comes later. Returns the request; a failure closes it.
   */
  public InferRequest fill(InferRequest request, I values) {
    Checks.notNull(request, "request");
    try {
      Checks.notNull(values, "values");
      Fit now = fit();
      for (int i = 0; i < now.inputs.length; i++) {
        TensorField field = now.inputs[i];
        Object value = input.read(values, i);
        if (value != null || !field.mayBeLeftOut()) {
          request.input(field.name(), field.tensor(Checks.notNull(value, field.where())));
        }
      }
      if (!now.wantsAll()) {
        for (TensorField field : now.outputs) {
          request.output(field.name());
        }
      }
      return request;
    } catch (Throwable t) {
      request.close();
      throw t;
    }
  }

  /** The outputs of a response. Tensors among them can be read until it is closed. */
  public O read(InferResponse response) {
    Checks.notNull(response, "response");
    TensorField[] outputs = fit().outputs;
    Object[] values = new Object[outputs.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = outputs[i].value(response.output(outputs[i].name()));
    }
    return output.make(values);
  }

  // ---- How the records fit the model ----------------------------------------------------------

  private Fit fit() {
    Fit known = fit;
    ModelSpec spec = model.spec();
    if (known.spec != spec) {
      known = fitted(spec);
      fit = known;
    }
    return known;
  }

  private Fit fitted(ModelSpec spec) {
    TensorField[] inputs = fields(spec, input, "input", spec.inputs());
    for (TensorSpec required : spec.inputs()) {
      if (!required.optional()
          && Arrays.stream(inputs).noneMatch(field -> field.name().equals(required.name()))) {
        throw new IllegalArgumentException(
            "record %s lacks a component for input '%s' (%s) of model '%s'"
                .formatted(
                    input.name(),
                    required.name(),
                    TensorField.described(spec, required),
                    spec.name()));
      }
    }
    return new Fit(spec, inputs, fields(spec, output, "output", spec.outputs()));
  }

  private static TensorField[] fields(
      ModelSpec spec, RecordType<?> type, String what, List<TensorSpec> tensors) {
    return type.components().stream()
        .map(component ->
            new TensorField(
                spec, what, named(spec, type, component, what, tensors), type.name(), component))
        .toArray(TensorField[]::new);
  }

  private static TensorSpec named(
      ModelSpec spec,
      RecordType<?> type,
      RecordComponent component,
      String what,
      List<TensorSpec> tensors) {
    String name = component.getName();
    List<String> known = tensors.stream().map(TensorSpec::name).toList();
    List<TensorSpec> found =
        tensors.stream()
            .filter(tensor ->
                known.contains(name)
                    ? tensor.name().equals(name)
                    : identifier(tensor.name()).equals(name))
            .toList();
    if (found.size() == 1) {
      return found.getFirst();
    }
    throw new IllegalArgumentException(
        "expected component '%s' of record %s to be an %s of model '%s'%s"
            .formatted(name, type.name(), what, spec.name(), Names.hint("it has", name, known)));
  }

  /** Returns the name as a Java identifier, with {@code _} in place of other characters. */
  private static String identifier(String name) {
    StringBuilder text = new StringBuilder(name);
    for (int i = 0; i < text.length(); i++) {
      if (!Character.isJavaIdentifierPart(text.charAt(i))) {
        text.setCharAt(i, '_');
      }
    }
    boolean isStart = !text.isEmpty() && Character.isJavaIdentifierStart(text.charAt(0));
    return isStart ? text.toString() : "_" + text;
  }
}
