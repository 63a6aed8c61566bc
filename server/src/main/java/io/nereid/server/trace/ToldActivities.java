package io.nereid.server.trace;

import io.nereid.model.TracedActivity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What a plug-in tells of one request, on whatever threads it has: its own activities, and those of
 * the inferences that it begins for the request. What comes after {@link #end} is not taken.
 */
final class ToldActivities implements Consumer<TracedActivity> {

  /** Most activities of a request that are kept: a plug-in may tell without end. */
  private static final int MOST = 1000;

  /** A moment, by the clock of System.nanoTime. */
  record Moment(String name, long ns) {}

  /** The request itself, or an inference that its backend began. */
  static final class Inference {
    final long id;
    final long parentId;
    final TracedActivity first;
    final List<Moment> moments = new ArrayList<>();
    final List<TracedTensor> tensors = new ArrayList<>();

    private Inference(long id, long parentId, TracedActivity first) {
      this.id = id;
      this.parentId = parentId;
      this.first = first;
    }

    /** Whether it is the request itself. */
    boolean isRequest() {
      return first.inference() == 0;
    }
  }

  private final Trace trace;

  // ---- Guarded by this -------------------------------------------------------------------------

  private final Map<Long, Inference> inferences = new LinkedHashMap<>();
  private int count;
  private boolean ended;

  ToldActivities(Trace trace) {
    this.trace = trace;
  }

  @Override
  public synchronized void accept(TracedActivity activity) {
    if (ended || ++count > MOST) {
      return;
    }
    Inference inference = inferences.computeIfAbsent(activity.inference(), n -> begin(activity));
    activity
        .tensor()
        .ifPresentOrElse(
            content -> {
              if (trace.sampler.records(TraceLevel.TENSORS)) {
                trace.record(inference.tensors, activity.name(), content.name(), content.tensor());
              }
            },
            () ->
                inference.moments.add(
                    new Moment(Trace.limited(activity.name()), activity.timeNs())));
  }

  private Inference begin(TracedActivity first) {
    if (first.inference() == 0) {
      return new Inference(trace.id, 0, first);
    }
    Inference parent = inferences.get(first.parent());
    return new Inference(trace.nextId(), parent == null ? trace.id : parent.id, first);
  }

  /** What was told, each inference behind the one that began it. */
  synchronized List<Inference> end() {
    ended = true;
    return List.copyOf(inferences.values());
  }
}
