package io.nereid.text;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.model.scoring.ScoringModel;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * A {@link TextReranker} as a scoring model of LangChain4j, whose artifact {@code langchain4j-core}
 * the application brings.
 */
public final class NereidScoringModel implements ScoringModel {

  private final TextReranker reranker;

  /** Makes a model with the reranker's scores. */
  public NereidScoringModel(TextReranker reranker) {
    this.reranker = Objects.requireNonNull(reranker, "reranker");
  }

  @Override
  public Response<List<Double>> scoreAll(List<TextSegment> segments, String query) {
    float[] scores = reranker.scores(query, segments.stream().map(TextSegment::text).toList());
    return Response.from(
        IntStream.range(0, scores.length).mapToObj(i -> (double) scores[i]).toList());
  }
}
