package io.nereid.text;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.DimensionAwareEmbeddingModel;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.model.output.TokenUsage;
import java.util.List;
import java.util.Objects;

/**
 * A {@link TextEmbedder} as an embedding model of LangChain4j, whose artifact {@code
 * langchain4j-core} the application brings.
 */
public final class NereidEmbeddingModel extends DimensionAwareEmbeddingModel {

  private final TextEmbedder embedder;

  /** Makes a model with the embedder's vectors. */
  public NereidEmbeddingModel(TextEmbedder embedder) {
    this.embedder = Objects.requireNonNull(embedder, "embedder");
  }

  @Override
  public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
    List<String> texts = segments.stream().map(TextSegment::text).toList();
    List<long[]> tokens = embedder.tokens(texts);
    List<Embedding> vectors = embedder.embedTokens(tokens).stream().map(Embedding::from).toList();
    return Response.from(vectors, new TokenUsage(embedder.count(tokens)));
  }
}
