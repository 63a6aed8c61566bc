package io.nereid.spring;

import io.nereid.text.Pooling;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * Holds the properties {@code nereid.embedding.*}.
 *
 * @param model the name of the model that makes vectors
 * @param tokenizer its {@code tokenizer.json}
 * @param maxTokens the length at which texts are cut off
 * @param pooling the way to make one vector from those of a text's tokens
 * @param normalize whether vectors are brought to length 1
 */
@ConfigurationProperties("nereid.embedding")
public record NereidEmbeddingProperties(
    String model,
    Resource tokenizer,
    @DefaultValue("512") int maxTokens,
    @DefaultValue("mean") Pooling pooling,
    @DefaultValue("true") boolean normalize) {}
