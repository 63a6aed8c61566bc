package io.nereid.internal.backend;

import io.nereid.internal.ffi.BatcherUpcalls;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.internal.request.RequestContent;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.SlotTable;
import io.nereid.model.Batcher;
import io.nereid.model.WaitingRequest;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.RandomAccess;

/**
 * Calls a {@link Batcher} for the core, for one load of a model, on one thread at a time. The
 * objects that show requests to the batcher are reused, so a call allocates nothing.
 */
public final class JavaBatcher implements BatcherUpcalls.Policy {

  private final Batcher batcher;
  private final Signature signature;
  private final SlotTable slots;
  private final Chosen chosen = new Chosen();
  private final Waiting next = new Waiting();
  private Waiting[] views = new Waiting[0];
  private boolean asking;

  private JavaBatcher(Batcher batcher, Signature signature, SlotTable slots) {
    this.batcher = batcher;
    this.signature = signature;
    this.slots = slots;
  }

  /** Registers a batcher for one load of a model and returns its number, valid until removed. */
  public static long add(Batcher batcher, Signature signature, SlotTable slots) {
    return BatcherUpcalls.add(new JavaBatcher(batcher, signature, slots));
  }

  @Override
  public boolean includes(BatcherUpcalls.Requests requests, BatcherUpcalls.Request request) {
    chosen.requests = requests;
    next.record = request;
    asking = true;
    try {
      return batcher.includes(chosen, next);
    } finally {
      asking = false;
    }
  }

  @Override
  public void failed(Throwable t) {
    CoreLog.logQuietly(
        "the batcher of model '"
            + signature.spec().name()
            + "' failed, now or also later: its requests are not batched then",
        t);
  }

  private void checkAsked() {
    if (!asking) {
      throw new IllegalStateException("a batcher sees requests only while it is asked");
    }
  }

  private Waiting view(int index) {
    if (index >= views.length) {
      Waiting[] more = Arrays.copyOf(views, Math.max(8, 2 * index));
      for (int i = views.length; i < more.length; i++) {
        more[i] = new Waiting();
      }
      views = more;
    }
    return views[index];
  }

  /** The requests that were chosen, each looked up when it is asked for. */
  private final class Chosen extends AbstractList<WaitingRequest> implements RandomAccess {
    private BatcherUpcalls.Requests requests;

    @Override
    public WaitingRequest get(int index) {
      checkAsked();
      Waiting view = view(Objects.checkIndex(index, requests.count()));
      requests.look(index, view.record);
      return view;
    }

    @Override
    public int size() {
      checkAsked();
      return requests.count();
    }
  }

  private final class Waiting implements WaitingRequest {
    private BatcherUpcalls.Request record = new BatcherUpcalls.Request();

    /**
     * The inputs and settings that the request's sender gave; for a step of an ensemble, the sender
     * of the whole request gave them.
     */
    private Optional<RequestContent> sender() {
      checkAsked();
      return Optional.ofNullable(slots.sender(record.tag()));
    }

    private TensorRecord input(String name) {
      checkAsked();
      return record.input(signature.inputIndex(name));
    }

    @Override
    public Optional<String> id() {
      return sender().map(RequestContent::id);
    }

    @Override
    public Map<String, Object> parameters() {
      return sender().map(RequestContent::parameters).orElse(Map.of());
    }

    @Override
    public long rows() {
      checkAsked();
      if (signature.spec().maxBatchSize() == 0) {
        return 0;
      }
      for (int i = 0; i < signature.spec().inputs().size(); i++) {
        TensorRecord input = record.input(i);
        if (input.isSelected()) {
          return input.rows();
        }
      }
      return 0;
    }

    @Override
    public boolean hasInput(String name) {
      return input(name).isSelected();
    }

    @Override
    public long elementCount(String name) {
      TensorRecord input = input(name);
      return input.isSelected() ? input.elementCount() : 0;
    }

    @Override
    public long[] inputShape(String name) {
      TensorRecord input = input(name);
      if (!input.isSelected()) {
        throw Signature.invalid("input '" + name + "' is not in the request");
      }
      return input.shape();
    }

    @Override
    public int priority() {
      checkAsked();
      return record.priority();
    }

    @Override
    public long deadlineNs() {
      checkAsked();
      return Math.max(0, record.deadlineNs());
    }
  }
}
