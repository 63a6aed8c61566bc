package io.nereid.spring;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.Resource;

/**
 * Opens a {@link Nereid} with the models that {@link NereidProperties} name, closes it when the
 * application ends, after the web server, and makes a bean of each {@link Model}.
 */
@AutoConfiguration
@EnableConfigurationProperties(NereidProperties.class)
@Import(ModelBeans.class)
public final class NereidAutoConfiguration {

  /** Called by Spring. */
  public NereidAutoConfiguration() {}

  /** The runtime, unless the application has its own. */
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Nereid nereid(NereidProperties properties) {
    RepositoryOptions.Builder models =
        RepositoryOptions.builder()
            .controlMode(properties.controlMode())
            .pollInterval(properties.pollInterval());
    properties.repository().forEach(models::repository);
    if (properties.controlMode() == RepositoryOptions.ControlMode.EXPLICIT) {
      models.explicit(properties.load().toArray(String[]::new));
    }
    NereidOptions.Builder options =
        NereidOptions.builder().drainTimeout(properties.shutdownTimeout());
    if (properties.onnxruntimePath() != null) {
      options.onnxruntimePath(properties.onnxruntimePath());
    }
    Nereid nereid = Nereid.open(models.build(), options.build());
    try {
      properties.models().forEach((name, file) -> load(nereid, name, file, properties.failFast()));
      if (properties.failFast()) {
        check(nereid.models());
      }
      return nereid;
    } catch (RuntimeException e) {
      nereid.close();
      throw e;
    }
  }

  private static void load(Nereid nereid, String name, Resource file, boolean failFast) {
    try (InputStream in = file.getInputStream()) {
      nereid.load(name, in);
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "nereid.models." + name + " names " + file.getDescription() + ", which cannot be read",
          e);
    } catch (NereidException e) {
      if (failFast) {
        throw e;
      }
    }
  }

  private static void check(List<Model> models) {
    List<String> failures =
        models.stream()
            .filter(model -> model.state() == ModelState.FAILED)
            .map(model -> "'" + model.name() + "': " + model.failure().orElse("unknown"))
            .toList();
    if (!failures.isEmpty()) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "models cannot be loaded (nereid.fail-fast=false starts without them): "
              + String.join("; ", failures));
    }
  }
}
