package io.nereid.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelState;
import io.nereid.statistics.PoolStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;

/**
 * Binds the figures of a {@link Nereid} to registries of Micrometer: requests, times, batches and
 * memory of each model, under {@code nereid.model}, and of the pool and the response cache.
 *
 * <pre>{@code
 * try (var metrics = new NereidMetrics(nereid)) {
 *   metrics.bindTo(registry);
 *   serve();
 * }
 * }</pre>
 *
 * <p>Models are added and removed as they are loaded and unloaded. Requests cost no more: the
 * runtime counts anyway, and the figures are read when the registry asks.
 */
public final class NereidMetrics implements MeterBinder, AutoCloseable {

  private final Nereid nereid;
  private final Tags tags;

  @GuardedBy("this")
  private final List<Binding> bindings = new ArrayList<>();

  /** Makes metrics without additional tags. */
  public NereidMetrics(Nereid nereid) {
    this(nereid, List.of());
  }

  /** Makes metrics with these tags, which distinguish one Nereid from another. */
  public NereidMetrics(Nereid nereid, Iterable<Tag> tags) {
    this.nereid = Objects.requireNonNull(nereid, "nereid");
    this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    Binding binding = new Binding(nereid, registry, tags);
    bindings.add(binding);
    nereid.addListener(binding);
    binding.bindAll();
  }

  /** Removes all its meters from their registries. */
  @Override
  public synchronized void close() {
    for (Binding binding : bindings) {
      nereid.removeListener(binding);
      binding.remove();
    }
    bindings.clear();
  }

  /** The meters in one registry. */
  private static final class Binding implements LifecycleListener {

    /** The name and the number of a version of a model. */
    private record Key(String model, long version) {}

    private final Nereid nereid;
    private final MeterRegistry registry;
    private final Tags tags;
    private final List<Meter> shared = new ArrayList<>();
    private final Map<Key, List<Meter>> models = new ConcurrentHashMap<>();

    Binding(Nereid nereid, MeterRegistry registry, Tags tags) {
      this.nereid = nereid;
      this.registry = registry;
      this.tags = tags;
    }

    void bindAll() {
      pool("limit", "The most that inputs and outputs may take", PoolStatistics::byteLimit);
      pool("reserved", "Taken from the system", PoolStatistics::reservedBytes);
      pool("used", "Inputs and outputs that are in use", PoolStatistics::liveBytes);
      pool("peak", "The most that was ever in use", PoolStatistics::highWaterBytes);
      shared.add(
          FunctionCounter.builder(
                  "nereid.pool.failures", nereid, whole -> pool(whole, PoolStatistics::failures))
              .description("Inputs and outputs for which there was no memory")
              .tags(tags)
              .register(registry));
      shared.add(
          Gauge.builder("nereid.cache.used", nereid, Binding::cacheBytes)
              .description("What cached responses take")
              .baseUnit(BaseUnits.BYTES)
              .tags(tags)
              .register(registry));
      for (Model model : nereid.models()) {
        if (model.state() == ModelState.READY) {
          bind(model);
        }
      }
    }

    private void pool(String what, String help, ToDoubleFunction<PoolStatistics> figure) {
      shared.add(
          Gauge.builder("nereid.pool." + what, nereid, whole -> pool(whole, figure))
              .description(help)
              .baseUnit(BaseUnits.BYTES)
              .tags(tags)
              .register(registry));
    }

    /** Returns a figure of the pool; NaN if the Nereid was closed. */
    private static double pool(Nereid nereid, ToDoubleFunction<PoolStatistics> figure) {
      try {
        return figure.applyAsDouble(nereid.poolStatistics());
      } catch (IllegalStateException e) {
        return Double.NaN;
      }
    }

    private static double cacheBytes(Nereid nereid) {
      try {
        return nereid.cacheStatistics().bytes();
      } catch (IllegalStateException e) {
        return Double.NaN;
      }
    }

    @Override
    public void onEvent(ModelEvent event) {
      switch (event) {
        case ModelEvent.Ready ready -> find(ready).ifPresent(this::bind);
        case ModelEvent.Unloaded unloaded -> remove(key(unloaded));
        default -> {}
      }
    }

    private Optional<Model> find(ModelEvent event) {
      return nereid.models().stream().filter(model -> key(model).equals(key(event))).findFirst();
    }

    private static Key key(ModelEvent event) {
      return new Key(event.model(), event.version());
    }

    private static Key key(Model model) {
      return new Key(model.name(), model.version());
    }

    private void bind(Model model) {
      models.computeIfAbsent(key(model), key -> new ModelMeters(model, registry, tags).register());
    }

    private void remove(Key key) {
      List<Meter> meters = models.remove(key);
      if (meters != null) {
        meters.forEach(registry::remove);
      }
    }

    void remove() {
      shared.forEach(registry::remove);
      List.copyOf(models.keySet()).forEach(this::remove);
    }
  }
}
