/**
 * Configurations of models: reads a model's directory into a {@link
 * io.nereid.internal.config.ModelDraft}, and shows what a model is served with. Knows nothing of
 * what is loaded.
 */
package io.nereid.internal.config;
