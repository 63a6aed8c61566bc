package io.nereid.spring;

import io.nereid.model.RepositoryOptions.ControlMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * Holds the properties {@code nereid.*}.
 *
 * @param repository model repositories: directories, or files {@code NAME.onnx} that are one model
 * @param models ONNX files by the names of their models
 * @param controlMode when models of the repositories are loaded
 * @param pollInterval how often mode poll looks for changes
 * @param load the models that mode explicit loads at the start
 * @param failFast whether the application fails to start when a model cannot be loaded
 * @param problemDetails whether failures that no controller handles are answered as problem details
 * @param shutdownTimeout how long requests that are under way may take when the application ends
 * @param onnxruntimePath the library of ONNX Runtime, in place of the one in its jar; null: the one
 *     in its jar
 */
@ConfigurationProperties("nereid")
public record NereidProperties(
    @DefaultValue List<Path> repository,
    @DefaultValue Map<String, Resource> models,
    @DefaultValue("none") ControlMode controlMode,
    @DefaultValue("15s") Duration pollInterval,
    @DefaultValue List<String> load,
    @DefaultValue("true") boolean failFast,
    @DefaultValue("true") boolean problemDetails,
    @DefaultValue("30s") Duration shutdownTimeout,
    Path onnxruntimePath) {}
