/**
 * Configurations of models: reads a model's directory into a {@link
 * io.nereid.internal.config.ModelDraft}, and shows the configuration that a model is served with.
 * It does not depend on loaded models.
 */
package io.nereid.internal.config;
