package io.nereid.internal.repository;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;

/**
 * A version of a model with everything that is needed to serve it.
 *
 * @param spec what it is loaded from
 * @param configuration the same as a configuration, with where each value came from
 */
public record CompletedModel(ModelSpec spec, ModelConfiguration configuration) {}
