#!/usr/bin/env python3
"""Records what PyTorch makes of two updates of PPO, for ppo_test.cpp.

    torch_update.py TESTS     with torch installed; TESTS is the program with ppo_test.cpp in it

TESTS writes two rollouts, the first policy and the order of samples; the updates are done here in double by torch's autograd, Adam
and clip_grad_norm_; all goes to torch_update.json beside this file. To be run again when settings or rollouts of the test change.
"""
import json
import os
import subprocess
import sys
import tempfile

import torch

torch.set_default_dtype(torch.float64)
CLIP_OBSERVATION, EPSILON = 8, 1e-4


def network(layers):
    """A Sequential with ELU between its layers."""
    modules = []
    for layer in layers:
        linear = torch.nn.Linear(layer["in"], layer["out"])
        linear.weight.data = torch.tensor(layer["weight"]).reshape(layer["out"], layer["in"])
        linear.bias.data = torch.tensor(layer["bias"])
        modules += [linear, torch.nn.ELU()]
    return torch.nn.Sequential(*modules[:-1])


class Statistics:
    """Running mean and variance; starts with hardly a sample of mean 0 and variance 1."""

    def __init__(self, n):
        self.mean, self.var, self.count = torch.zeros(n), torch.ones(n), 0

    def take_in(self, x):
        old, rows = self.count + 1e-4, len(x)
        d = x.mean(0) - self.mean
        total = old + rows
        self.mean = self.mean + d * rows / total
        self.var = (self.var * old + x.var(0, unbiased=False) * rows + d ** 2 * old * rows / total) / total
        self.count += rows

    def __call__(self, x):
        return ((x - self.mean) / torch.sqrt(self.var + EPSILON)).clamp(-CLIP_OBSERVATION, CLIP_OBSERVATION)


def log_density(actor, log_std, x, action):
    return torch.distributions.Normal(actor(x), log_std.exp()).log_prob(action).sum(-1)


def advantages(reward, done, value, next_value, s):
    result, running = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        delta = reward[t] + s["gamma"] * next_value * ~done[t] - value[t]
        running = delta + s["gamma"] * s["lambda"] * ~done[t] * running
        result[t], next_value = running, value[t]
    return result


class Learner:
    def __init__(self, given):
        self.settings = s = given["settings"]
        self.nobs, self.nact = given["nobs"], given["nact"]
        self.actor, self.critic = network(given["policy"]["actor"]), network(given["policy"]["critic"])
        self.log_std = torch.nn.Parameter(torch.tensor(given["policy"]["log_std"]))
        self.of_actor, self.of_critic = [*self.actor.parameters(), self.log_std], [*self.critic.parameters()]
        self.adam = torch.optim.Adam([{"params": self.of_actor, "lr": s["actor_rate"]},
                                      {"params": self.of_critic, "lr": s["critic_rate"]}], eps=1e-5)
        self.normalise = Statistics(self.nobs)

    def update(self, rollout):
        """What the learner is after it learned from a rollout."""
        s, H, N = self.settings, self.settings["horizon"], len(rollout["truncated_at"])
        observation = torch.tensor(rollout["observation"]).reshape(H + 1, N, self.nobs)
        action = torch.tensor(rollout["action"]).reshape(H * N, self.nact)
        reward = torch.tensor(rollout["reward"]).reshape(H, N)
        done = torch.tensor(rollout["done"]).reshape(H, N) > 0
        last = torch.tensor(rollout["last"]).reshape(N, self.nobs)

        if not self.normalise.count:
            self.normalise.take_in(observation[0])
        x = self.normalise(observation[:H]).reshape(H * N, -1)
        with torch.no_grad():
            old_density = log_density(self.actor, self.log_std, x, action)
            value = self.critic(x).reshape(H, N)
            for world, t in enumerate(rollout["truncated_at"]):
                if t >= 0:
                    reward[t, world] += s["gamma"] * self.critic(self.normalise(last[world]))[0]
            advantage = advantages(reward, done, value, self.critic(self.normalise(observation[H])).flatten(), s)
            target = (advantage + value).flatten()
            advantage = advantage.flatten()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)

        steps = []
        for order in rollout["order"]:
            for k in range(s["minibatches"]):
                rows = torch.tensor(order[k * H * N // s["minibatches"]:(k + 1) * H * N // s["minibatches"]])
                steps.append(self.step(x[rows], action[rows], old_density[rows], advantage[rows], target[rows]))
        kl, surrogate, value_loss, actor_norm, critic_norm = zip(*steps)
        kl = sum(kl[-s["minibatches"]:]) / s["minibatches"]
        self.adapt_rate(kl)
        self.normalise.take_in(observation[:H].reshape(H * N, -1))
        return {
            "kl": kl, "rate": self.adam.param_groups[0]["lr"], "surrogate": sum(surrogate) / len(steps),
            "value_loss": sum(value_loss) / len(steps), "actor_norm": actor_norm[-1], "critic_norm": critic_norm[-1],
            "parameters": torch.cat([p.detach().flatten() for p in self.of_actor + self.of_critic]).tolist(),
            "mean": self.normalise.mean.tolist(), "var": self.normalise.var.tolist(), "count": self.normalise.count,
        }

    def step(self, x, action, old_density, advantage, target):
        s = self.settings
        log_ratio = log_density(self.actor, self.log_std, x, action) - old_density
        ratio = log_ratio.exp()
        cut = ratio.clamp(1 - s["clip"], 1 + s["clip"])
        surrogate = -torch.min(ratio * advantage, cut * advantage).mean()
        value_loss = (self.critic(x).flatten() - target).pow(2).mean()
        self.adam.zero_grad()
        (surrogate + value_loss - s["entropy"] * self.log_std.sum()).backward()
        actor_norm = torch.nn.utils.clip_grad_norm_(self.of_actor, s["grad_norm"])
        critic_norm = torch.nn.utils.clip_grad_norm_(self.of_critic, s["grad_norm"])
        self.adam.step()
        kl = (ratio - 1 - log_ratio).mean()
        return [v.item() for v in (kl, surrogate, value_loss, actor_norm, critic_norm)]

    def adapt_rate(self, kl):
        s, group = self.settings, self.adam.param_groups[0]
        if kl < s["target_kl"] / 2:
            group["lr"] = min(s["most_rate"], group["lr"] * s["rate_factor"])
        elif kl > s["target_kl"] * 1.5:
            group["lr"] = max(s["least_rate"], group["lr"] / s["rate_factor"])


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "given.json")
        subprocess.run([sys.argv[1], "[stance_torch_dump]"], check=True, env={**os.environ, "TORCH_GIVEN": path})
        with open(path) as file:
            given = json.load(file)
    learner = Learner(given)
    expected = [learner.update(rollout) for rollout in given["rollout"]]
    result = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_update.json")
    with open(result, "w") as file:
        json.dump({"torch": torch.__version__, "given": given, "expected": expected}, file)
        file.write("\n")
    print(result)


if __name__ == "__main__":
    main()
