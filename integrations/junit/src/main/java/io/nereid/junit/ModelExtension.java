package io.nereid.junit;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.statistics.OpenHandle;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.commons.support.AnnotationSupport;

/** Implements {@link WithModel}. JUnit makes it. */
final class ModelExtension implements ParameterResolver, AfterEachCallback {

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(ModelExtension.class);

  static {
    // Set before the runtime's classes are loaded: recording costs a test little, and shows the
    // place of a leak.
    System.getProperties().putIfAbsent("nereid.leaks", "record");
  }

  /** Called by JUnit. */
  ModelExtension() {}

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Nereid.class || type == Model.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Nereid nereid = opened(context).nereid;
    if (parameter.getParameter().getType() == Nereid.class) {
      return nereid;
    }
    Optional<ModelName> name = parameter.findAnnotation(ModelName.class);
    if (name.isPresent()) {
      return nereid.model(name.get().value());
    }
    List<String> names = nereid.models().stream().map(Model::name).distinct().sorted().toList();
    if (names.size() != 1) {
      throw new ParameterResolutionException(
          "expected @ModelName at the parameter "
              + parameter.getParameter()
              + ": there is "
              + (names.isEmpty() ? "no model" : String.join(", ", names)));
    }
    return nereid.model(names.getFirst());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (context.getExecutionMode() == ExecutionMode.SAME_THREAD) {
      annotated(context)
          .map(owner -> store(owner).get(owner.getUniqueId(), Opened.class))
          .ifPresent(Opened::check);
    }
  }

  /** The models of the test if it names some, else those of the class, opened at the first use. */
  private static Opened opened(ExtensionContext context) {
    ExtensionContext owner =
        annotated(context)
            .orElseThrow(() -> new ParameterResolutionException("expected @WithModel"));
    WithModel said =
        owner
            .getElement()
            .flatMap(element -> AnnotationSupport.findAnnotation(element, WithModel.class))
            .orElseThrow();
    return store(owner)
        .computeIfAbsent(
            owner.getUniqueId(), key -> new Opened(ModelSources.open(said)), Opened.class);
  }

  /** The nearest context that has the annotation. */
  private static Optional<ExtensionContext> annotated(ExtensionContext context) {
    Optional<ExtensionContext> owner = Optional.of(context);
    while (owner.isPresent()
        && !AnnotationSupport.isAnnotated(owner.get().getElement(), WithModel.class)) {
      owner = owner.get().getParent();
    }
    return owner;
  }

  private static ExtensionContext.Store store(ExtensionContext owner) {
    return owner.getStore(NAMESPACE);
  }

  /** A runtime that JUnit closes with its context, and the leaks that were reported. */
  private static final class Opened implements AutoCloseable {

    private final Nereid nereid;
    private final Set<OpenHandle> told = ConcurrentHashMap.newKeySet();

    Opened(Nereid nereid) {
      this.nereid = nereid;
    }

    /** Fails if requests or responses since the last check were not closed. */
    void check() {
      List<OpenHandle> open = nereid.openHandles().stream().filter(told::add).toList();
      if (!open.isEmpty()) {
        throw new AssertionError(
            "the test left open: "
                + open.stream().map(OpenHandle::toString).collect(Collectors.joining("; ")));
      }
    }

    /** Closes the runtime; fails for leaks that were not reported yet. */
    @Override
    public void close() {
      List<OpenHandle> open = nereid.openHandles();
      try {
        nereid.close();
      } catch (NereidException e) {
        if (e.code() != StatusCode.FAILED_PRECONDITION
            || open.isEmpty()
            || !told.containsAll(open)) {
          throw e;
        }
      }
    }
  }
}
