/**
 * The life of models: makes drafts models that take requests, and lets them go. {@link
 * io.nereid.internal.model.ModelLifecycle} is where to start. The package does not depend on
 * repositories.
 */
package io.nereid.internal.model;
