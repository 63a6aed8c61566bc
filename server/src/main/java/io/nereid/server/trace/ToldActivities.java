package io.nereid.server.trace;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.model.TracedActivity;
import io.nereid.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The activities that a plug-in tells of one request, on any threads: its own, and those of the
 * inferences that it begins for the request. Activities after {@link #end} are ignored.
 */
final class ToldActivities implements Consumer<TracedActivity> {

  /** The most activities of a request that are kept, since a plug-in could tell any number. */
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

    /** True if this is the request itself. */
    boolean isRequest() {
      return first.inference() == 0;
    }
  }

  /** Keeps a copy of a tensor in a list, if there is room for it. */
  interface Recorder {
    void record(List<TracedTensor> list, String activity, String name, Tensor tensor);
  }

  private final long request;
  private final LongSupplier ids;
  private final Optional<Recorder> recorder;

  @GuardedBy("this")
  private final Map<Long, Inference> inferences = new LinkedHashMap<>();

  @GuardedBy("this")
  private int count;

  @GuardedBy("this")
  private boolean ended;

  /**
   * Makes the collection for a request.
   *
   * @param request its number
   * @param ids gives numbers to inferences that its backend begins
   * @param recorder empty: tensors are not kept
   */
  ToldActivities(long request, LongSupplier ids, Optional<Recorder> recorder) {
    this.request = request;
    this.ids = ids;
    this.recorder = recorder;
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
            content ->
                recorder.ifPresent(to ->
                    to.record(
                        inference.tensors, activity.name(), content.name(), content.tensor())),
            () ->
                inference.moments.add(
                    new Moment(TracedTensor.limited(activity.name()), activity.timeNs())));
  }

  private synchronized Inference begin(TracedActivity first) {
    if (first.inference() == 0) {
      return new Inference(request, 0, first);
    }
    Inference parent = inferences.get(first.parent());
    return new Inference(ids.getAsLong(), parent == null ? request : parent.id, first);
  }

  /** The inferences that were told, each behind the one that began it. */
  synchronized List<Inference> end() {
    ended = true;
    return List.copyOf(inferences.values());
  }
}
