package io.nereid.text;

import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.AbstractEmbeddingModel;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.EmbeddingResponseMetadata;

/**
 * A {@link TextEmbedder} as an embedding model of Spring AI, whose artifact {@code spring-ai-model}
 * the application brings. Options of a request change nothing: the model is the embedder's, and its
 * vectors have one size.
 */
public final class SpringAiEmbeddingModel extends AbstractEmbeddingModel {

  private final TextEmbedder embedder;

  /** Makes a model with the embedder's vectors. */
  public SpringAiEmbeddingModel(TextEmbedder embedder) {
    this.embedder = Objects.requireNonNull(embedder, "embedder");
  }

  @Override
  public EmbeddingResponse call(EmbeddingRequest request) {
    List<long[]> tokens = embedder.tokens(request.getInstructions());
    List<float[]> vectors = embedder.embedTokens(tokens);
    int count = tokens.stream().mapToInt(text -> text.length).sum();
    return new EmbeddingResponse(
        IntStream.range(0, vectors.size()).mapToObj(i -> new Embedding(vectors.get(i), i)).toList(),
        new EmbeddingResponseMetadata(embedder.modelName(), new DefaultUsage(count, 0, count)));
  }

  @Override
  public float[] embed(Document document) {
    return embedder.embed(getEmbeddingContent(document));
  }
}
