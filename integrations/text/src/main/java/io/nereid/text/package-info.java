/**
 * Text in, vectors out. A {@link io.nereid.text.TextEmbedder} makes one vector of each text, by a
 * model such as MiniLM and its tokenizer:
 *
 * <pre>{@code
 * try (var nereid = Nereid.open(Path.of("model.onnx"));
 *     var tokenizer = TextTokenizer.open(Path.of("tokenizer.json"), 512)) {
 *   var embedder = new TextEmbedder(nereid.model(), tokenizer);
 *   List<float[]> vectors = embedder.embedAll(List.of("a dog", "a puppy"));
 * }
 * }</pre>
 *
 * <p>{@link io.nereid.text.NereidEmbeddingModel} is the same for LangChain4j.
 */
package io.nereid.text;
