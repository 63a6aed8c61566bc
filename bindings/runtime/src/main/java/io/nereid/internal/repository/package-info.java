/**
 * Model repositories: finds and reads the models in them, and loads and unloads accordingly. {@link
 * io.nereid.internal.repository.RepositoryLoader} is where to start.
 */
package io.nereid.internal.repository;
