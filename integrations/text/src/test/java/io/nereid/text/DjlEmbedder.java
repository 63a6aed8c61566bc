package io.nereid.text;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Batchifier;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The same model by DJL's engine for ONNX Runtime. That engine has no arithmetic of its own, so the
 * mean of the tokens is taken here.
 */
final class DjlEmbedder implements AutoCloseable, Translator<String, float[]> {

  private final Path directory;
  private final HuggingFaceTokenizer tokenizer;
  private final ZooModel<String, float[]> model;
  private final ThreadLocal<Predictor<String, float[]>> predictors;

  DjlEmbedder() throws Exception {
    directory = Files.createTempDirectory("djl");
    try (InputStream onnx = TextEmbedderTest.resource("all-minilm-l6-v2-q.onnx");
        InputStream json = TextEmbedderTest.resource("all-minilm-l6-v2-q-tokenizer.json")) {
      Files.copy(onnx, directory.resolve("model.onnx"));
      tokenizer = HuggingFaceTokenizer.newInstance(json, Map.of("padding", "false"));
    }
    model =
        Criteria.builder()
            .setTypes(String.class, float[].class)
            .optModelPath(directory)
            .optModelName("model")
            .optEngine("OnnxRuntime")
            .optTranslator(this)
            .build()
            .loadModel();
    predictors = ThreadLocal.withInitial(model::newPredictor);
  }

  float[] embed(String text) {
    try {
      return predictors.get().predict(text);
    } catch (TranslateException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public NDList processInput(TranslatorContext context, String text) {
    Encoding encoding = tokenizer.encode(text);
    NDManager manager = context.getNDManager();
    NDList inputs =
        new NDList(
            manager.create(new long[][] {encoding.getIds()}),
            manager.create(new long[][] {encoding.getAttentionMask()}),
            manager.create(new long[][] {encoding.getTypeIds()}));
    inputs.get(0).setName("input_ids");
    inputs.get(1).setName("attention_mask");
    inputs.get(2).setName("token_type_ids");
    return inputs;
  }

  @Override
  public float[] processOutput(TranslatorContext context, NDList outputs) {
    float[] hidden = outputs.getFirst().toFloatArray();
    float[] vector = new float[384];
    for (int i = 0; i < hidden.length; i++) {
      vector[i % vector.length] += hidden[i];
    }
    double squares = 0;
    for (float value : vector) {
      squares += (double) value * value;
    }
    for (int i = 0; i < vector.length; i++) {
      vector[i] *= (float) (1 / Math.sqrt(squares));
    }
    return vector;
  }

  @Override
  public Batchifier getBatchifier() {
    return null; // a text is alone
  }

  @Override
  public void close() throws IOException {
    model.close();
    tokenizer.close();
    Files.delete(directory.resolve("model.onnx"));
    Files.delete(directory);
  }
}
