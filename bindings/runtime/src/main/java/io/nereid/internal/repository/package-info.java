/**
 * Model repositories: finds and reads what is in them, and brings what is loaded in line with it.
 * {@link io.nereid.internal.repository.RepositoryLoader} is where to start.
 */
package io.nereid.internal.repository;
